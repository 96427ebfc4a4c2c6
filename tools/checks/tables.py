"""Fails on rows of a Markdown table that have more or fewer cells than its head.

Such a row belongs to another table: moved there by a merge, or by hand. Nobody sees it until the
page is read as a page.
"""

import re
from pathlib import Path

from sources import ROOT, problems_in, project_files, report

RULE = re.compile(r"\|?(\s*:?-+:?\s*\|)+\s*(:?-+:?\s*)?")
CODE = re.compile(r"`[^`]*`|\\\|")


def cells(line: str) -> int:
    """How many cells a row has; a bar inside of code is none between cells."""
    return CODE.sub("", line).strip().removeprefix("|").removesuffix("|").count("|") + 1


def check_file(path: Path, text: str) -> list[str]:
    """Problems of one page, given its path in the project."""
    problems, head, is_code = [], 0, False
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            is_code, head = not is_code, 0
        elif is_code or not line.startswith("|"):
            head = 0
        elif head == 0:
            is_head = number < len(lines) and RULE.fullmatch(lines[number].strip())
            head = cells(line) if is_head else -1
        elif head > 0 and cells(line) != head:
            problems.append(
                f"{path}:{number}: a row of {cells(line)} cells in a table of {head}: "
                "it belongs to another table"
            )
    return problems


def check(root: Path) -> list[str]:
    return problems_in(project_files(root, (".md",)), root, check_file)


if __name__ == "__main__":
    report(check(ROOT))
