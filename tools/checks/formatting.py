"""Fails on C++ not written as clang-format, or Python not as ruff, would write it.

`formatting.py --write` writes it so.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from sources import ROOT, cpp_files, python_files


def tool(name: str) -> str:
    """The tool of the running environment (its version is pinned), or the one on the path."""
    beside_python = Path(sys.executable).parent / name
    found = str(beside_python) if beside_python.exists() else shutil.which(name)
    if not found:
        raise SystemExit(f"{name} is missing; ./dev lint installs it into .venv")
    return found


def format_files(root: Path, write: bool) -> list[str]:
    """Formats, or only compares; returns what the tools say about files that differ."""
    cpp_mode = ["-i"] if write else ["--dry-run", "-Werror"]
    python_mode = ["-q"] if write else ["--check"]
    problems = []
    for command, files in (
        ([tool("clang-format"), "--style=file", *cpp_mode], cpp_files(root)),
        ([tool("ruff"), "format", *python_mode], python_files(root)),
    ):
        if not files:
            continue
        done = subprocess.run([*command, *files], cwd=root, capture_output=True, text=True)
        if done.returncode:
            said = (done.stderr + done.stdout).strip()
            problems.append(said or f"{Path(command[0]).name}: some files are not formatted")
    return problems


def check(root: Path) -> list[str]:
    problems = format_files(root, write=False)
    return [*problems, "./dev format writes the formatting"] if problems else []


if __name__ == "__main__":
    found = format_files(ROOT, write=True) if "--write" in sys.argv[1:] else check(ROOT)
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(1 if found else 0)
