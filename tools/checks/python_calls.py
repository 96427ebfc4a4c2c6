"""Fails on C++ that calls Python code past python/src/calls.h.

A thread may meet the end of the interpreter in such a call. Until Python 3.13 its stack is unwound
then, without the interpreter's lock: the calls of that header stop it before it reaches a frame of
ours, whose destructors would touch Python.
"""

import re
from pathlib import Path

from sources import ROOT, cpp_files, problems_in, report

FOLDER = ("python", "src")
ALLOWED = "calls.h"
CALLING = re.compile(r"\b(PyObject_Call\w*|PyEval_Eval\w+|PyRun_\w+)\b")


def check_file(path: Path, text: str) -> list[str]:
    """Problems of one file, given its path in the project."""
    if path.parts[:2] != FOLDER or path.name == ALLOWED:
        return []
    return [
        f"{path}:{number}: {match[1]}: use call_object or call_method of python/src/calls.h, "
        "which hold at the end of the interpreter"
        for number, line in enumerate(text.splitlines(), 1)
        if (match := CALLING.search(line.split("//")[0]))
    ]


def check(root: Path) -> list[str]:
    return problems_in(cpp_files(root), root, check_file)


if __name__ == "__main__":
    report(check(ROOT))
