"""``tidemark profile script.py -o report.html``: one page about a program's memory."""

from __future__ import annotations

import sys
from pathlib import Path

from tidemark.cli import InputError, house_call
from tidemark.cli.files import write

ABOUT = "runs a program and writes a page about its memory"
RUNS_A_PROGRAM = True


def add_arguments(parser):
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="report.html",
        help="where the page goes (default: report.html)",
    )  # fmt: skip
    house_call.add_arguments(parser)
    parser.add_argument("--recording", metavar="FILE", help="keep the recording there")
    parser.add_argument(
        "-m", dest="module", metavar="MODULE", help="run a module instead of a file"
    )
    parser.add_argument(
        "program", nargs="*", help="the script and its arguments; after -- all of them are its own"
    )


def run(arguments) -> int:
    from tidemark._explain import findings, page  # only reports need it
    from tidemark.cli.doctor import look_at  # loaded on first use

    program = list(arguments.program)
    output = Path(arguments.output)
    if not output.absolute().parent.is_dir():
        raise InputError(f"there is no folder {output.absolute().parent}")
    if arguments.on:
        found, status = house_call.visit(arguments)
        text = found["page"]
    else:
        looked, status = look_at(arguments.module, program, arguments.recording)
        title = " ".join(
            [arguments.module or Path(program[0]).name, *program[0 if arguments.module else 1 :]]
        )
        text = page.page(title, looked, findings.find(looked))
    write(output, text)
    print(f"tidemark: {output} written", file=sys.stderr)
    return status
