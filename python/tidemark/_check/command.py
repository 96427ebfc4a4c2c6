"""``tidemark check train.py``: patterns that cost memory, found in the source before it runs.

Of Tidemark it needs these modules of pure Python alone: the hook for pre-commit runs it without the
runtime.
"""

from __future__ import annotations

import sys

from tidemark._check import checking, output

OK, FAILED, BAD_INPUT = 0, 1, 2  # as of all commands
ABOUT = "reads source for patterns that cost memory; nothing is run"


def add_arguments(parser):
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files, or folders of them")
    parser.add_argument(
        "--format", choices=["text", "json", "lsp", "github", "sarif"], default="text",
        help="text; json; diagnostics for editors; annotations for GitHub; SARIF",
    )  # fmt: skip
    parser.add_argument("--json", action="store_const", const="json", dest="format")


def run(arguments) -> int:
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
