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


LIBRARIES = ["tensorflow", "torch", "jax"]


def add_arguments(parser):
    """The options of a command that makes house calls."""
    parser.add_argument(
        "--on",
        choices=LIBRARIES,
        help="run the program on that library's own installation, and look from outside",
    )
    parser.add_argument(
        "--python", metavar="PYTHON", help="with --on: the Python that has it (this one)"
    )


def visit(arguments, is_quiet=False):
    """(what was found, the program's exit status)."""
    if arguments.module is not None or not arguments.program:
        raise InputError(f"--on takes a script: --on {arguments.on} script.py")
    python = arguments.python or sys.executable
    with tempfile.TemporaryDirectory(prefix="tidemark-visit-") as folder:
        answer = os.path.join(folder, "answer.json")
        command = [python, os.path.join(_VISIT, "visit.py"), arguments.on, answer]
        try:
            done = subprocess.run(
                [*command, *arguments.program],
                stdout=sys.stderr if is_quiet else None,
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
            return json.load(opened), done.returncode


def run(arguments) -> int:
    """``tidemark doctor --on``."""
    if arguments.fix:
        raise InputError("--fix tries changes on Tidemark: without --on")
    found, status = visit(arguments, is_quiet=arguments.json)
    text = found.pop("text")
    del found["page"]
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
    return status
