"""Runs every check of the sources; prints what is wrong and ends with status 1 if anything is."""

import sys

import backends
import decisions
import formatting
import late_imports
import layers
import lengths
import op_names
import process_hooks
import python_calls
import step_questions
import streams
import tables
from sources import ROOT

CHECKS = {
    "layers": layers.check,
    "backends": backends.check,
    "lengths": lengths.check,
    "op names": op_names.check,
    "step questions": step_questions.check,
    "process hooks": process_hooks.check,
    "python calls": python_calls.check,
    "streams": streams.check,
    "tables": tables.check,
    "late imports": late_imports.check,
    "decisions": decisions.check,
    "formatting": formatting.check,
}


def main() -> int:
    failed = []
    for name, check in CHECKS.items():
        problems = check(ROOT)
        print(*problems, sep="\n", end="\n" if problems else "")
        if problems:
            failed.append(name)
    print(f"checks: {', '.join(failed)} failed" if failed else f"checks: {', '.join(CHECKS)} pass")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
