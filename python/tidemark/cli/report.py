"""``tidemark report run.tidemark -o report.html``: the page of a recording."""

from __future__ import annotations

import json
from pathlib import Path

from tidemark.cli import OK, InputError
from tidemark.cli.diff import read
from tidemark.cli.files import write

ABOUT = "makes a page, or numbers, of a recording"


def add_arguments(parser):
    parser.add_argument(
        "recording",
        help="a file that tf.memory.record, tidemark profile or tidemark watch --record made",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write an HTML page there")
    parser.add_argument("--json", action="store_true", help="print the analysis as JSON")


def _is_over_days(path):
    try:
        with open(path, "rb") as opened:
            return opened.read(12) == b'{"tidemark":'
    except OSError:
        return False  # told by who reads it


def _report_days(arguments):
    """A recording of ``tidemark watch --record``."""
    from tidemark._explain import days  # only reports need it

    if arguments.output:
        raise InputError("a recording over days has no page: without -o it is told as text")
    recording = read(arguments.recording)
    if arguments.json:
        print(json.dumps({
            "hours": [{"begin": begin, "live": live, "change": change, "marks": marks}
                      for begin, live, change, marks in days.hours(recording)],
            "lines": [vars(one) for one in days.trends(recording)],
        }))  # fmt: skip
    else:
        print(days.text(recording))
    return OK


def run(arguments) -> int:
    from tidemark._explain import findings, page  # only reports need it
    from tidemark._explain.looking import recorded  # only reports need it

    if _is_over_days(arguments.recording):
        return _report_days(arguments)
    looked = recorded(arguments.recording)
    found = findings.find(looked)
    if arguments.json:
        print(json.dumps({**looked.analysis, "findings": [f.to_json() for f in found]}))
    elif arguments.output:
        write(arguments.output, page.page(Path(arguments.recording).name, looked, found))
    else:
        print(findings.text(found, looked))
    return OK
