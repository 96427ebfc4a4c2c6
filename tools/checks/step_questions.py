"""Fails on passes and planner code that asks of which class a step is.

What a step does, reads, changes and costs it says itself (src/tidemark/graph/effects.h), so that a
new kind of step needs no change in any pass.
"""

import re
from pathlib import Path

from sources import ROOT, cpp_files, problems_in, report

FOLDERS = (("src", "tidemark", "compile"), ("src", "tidemark", "plan"))
ASKING = re.compile(r"\b(dynamic_cast|dynamic_pointer_cast|typeid)\b")


def check_file(path: Path, text: str) -> list[str]:
    """Problems of one file, given its path in the project."""
    if path.parts[:3] not in FOLDERS:
        return []
    return [
        f"{path}:{number}: {match[1]}: ask what a step says of itself "
        "(src/tidemark/graph/effects.h), not of which class it is"
        for number, line in enumerate(text.splitlines(), 1)
        if (match := ASKING.search(line.split("//")[0]))
    ]


def check(root: Path) -> list[str]:
    return problems_in(cpp_files(root), root, check_file)


if __name__ == "__main__":
    report(check(ROOT))
