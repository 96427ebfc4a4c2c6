"""Fails on <iostream> in the libraries.

The header has all standard streams and their locales set up wherever the library is loaded: 0.4 MiB
in every process, whether it prints or not. Print through <cstdio>, or to a stream that the caller
gives.
"""

import re
from pathlib import Path

from sources import ROOT, cpp_files, problems_in, report

FOLDERS = ("src/tidemark/", "include/tidemark/", "python/src/")
INCLUDE = re.compile(r"^\s*#\s*include\s*<(iostream|tidemark/tidemark\.h)>", re.MULTILINE)
OF_PROGRAMS = "include/tidemark/tidemark.h"  # programs print; no library includes it


def check_file(path: Path, text: str) -> list[str]:
    """Problems of one file, given its path in the project."""
    name = path.as_posix()
    if not name.startswith(FOLDERS) or name.endswith("_test.cpp") or name == OF_PROGRAMS:
        return []
    return [
        f"{path}:{text.count(chr(10), 0, found.end()) + 1}: <iostream> sets up all streams "
        "wherever the library is loaded: print through <cstdio>, or to a stream that is given"
        for found in INCLUDE.finditer(text)
    ]


def check(root: Path) -> list[str]:
    return problems_in(cpp_files(root), root, check_file)


if __name__ == "__main__":
    report(check(ROOT))
