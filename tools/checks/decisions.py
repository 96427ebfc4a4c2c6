"""Fails on a decision too long to be read at once: what was decided and why, not how it works."""

from pathlib import Path

from sources import project_files

MAX_WORDS = 300


def check(root: Path) -> list[str]:
    problems = []
    for path in project_files(root, (".md",)):
        name = path.relative_to(root)
        words = len(path.read_text().split())
        if name.parts[:2] == ("docs", "decisions") and words > MAX_WORDS:
            problems.append(
                f"{name}: {words} words; a decision has at most {MAX_WORDS}: keep the reasons, "
                "leave out what the code says, or make two of it"
            )
    return problems
