"""``tidemark check train.py``: patterns that cost memory, found in the source before it runs."""

from __future__ import annotations

import sys

from tidemark.cli import BAD_INPUT, FAILED, OK

ABOUT = "reads source for patterns that cost memory; nothing is run"


def add_arguments(parser):
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files, or folders of them")
    parser.add_argument(
        "--format", choices=["text", "json", "github", "sarif"], default="text",
        help="text; json for editors; annotations for GitHub; SARIF for code scanning",
    )  # fmt: skip
    parser.add_argument("--json", action="store_const", const="json", dest="format")


def run(arguments) -> int:
    from tidemark._check import checking, output  # only this command needs it

    alarms, status = [], OK
    for path in checking.python_files(arguments.paths):
        try:
            alarms += checking.check_file(path)
        except OSError as error:
            print(f"tidemark check: cannot read {path}: {error.strerror}", file=sys.stderr)
            status = BAD_INPUT
        except (SyntaxError, ValueError) as error:  # ValueError: null bytes, or no UTF-8
            print(f"tidemark check: {path} is no Python source: {error}", file=sys.stderr)
            status = BAD_INPUT
    if told := output.FORMATS[arguments.format](alarms):
        print(told)
    return FAILED if alarms else status
