"""``tidemark report run.tidemark -o report.html``: the page of a recording."""

from __future__ import annotations

import json
from pathlib import Path

from tidemark.cli import OK, InputError

ABOUT = "makes a page, or numbers, of a recording"


def add_arguments(parser):
    parser.add_argument("recording", help="a file that tf.memory.record or tidemark profile made")
    parser.add_argument("-o", "--output", metavar="FILE", help="write an HTML page there")
    parser.add_argument("--json", action="store_true", help="print the analysis as JSON")


def run(arguments) -> int:
    from tidemark._explain import findings, page  # only reports need it
    from tidemark._explain.looking import recorded  # only reports need it

    looked = recorded(arguments.recording)
    found = findings.find(looked)
    if arguments.json:
        print(json.dumps({**looked.analysis, "findings": [f.to_json() for f in found]}))
    elif arguments.output:
        text = page.page(Path(arguments.recording).name, looked, found)
        try:
            Path(arguments.output).write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot write {arguments.output}: {error.strerror}") from None
    else:
        print(findings.text(found, looked))
    return OK
