"""``tidemark doctor --on tensorflow``: the doctor at the program's own library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap

from tidemark.cli import FAILED, InputError

_VISIT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "_house")


def run(arguments) -> int:
    if arguments.module is not None or arguments.fix or not arguments.program:
        raise InputError("--on takes a script: tidemark doctor --on tensorflow script.py")
    python = arguments.python or sys.executable
    with tempfile.TemporaryDirectory(prefix="tidemark-visit-") as folder:
        answer = os.path.join(folder, "answer.json")
        command = [python, os.path.join(_VISIT, "visit.py"), arguments.on, answer]
        try:
            done = subprocess.run(
                [*command, *arguments.program],
                stdout=sys.stderr if arguments.json else None,
                check=False,
            )
        except OSError as error:
            raise InputError(f"cannot run {python}: {error.strerror}") from None
        if not os.path.exists(answer):
            raise InputError(
                f"{python} could not look at the program (its message stands above); a Python "
                f"that has {arguments.on} is given with --python"
            )
        with open(answer, encoding="utf-8") as opened:
            found = json.load(opened)
    text = found.pop("text")
    if arguments.json:
        print(json.dumps(found, indent=2))
    else:
        print(f"\n--- tidemark doctor, on {arguments.on} {'-' * 45}\n{text}\n")
        print(*textwrap.wrap(found["not_seen"], 80), sep="\n")
    grows = any(f["verdict"] == "growing" for f in found["findings"])
    if (arguments.fail_on == "growth" and grows) or (
        arguments.fail_on == "any" and found["findings"]
    ):
        return FAILED
    return done.returncode
