"""Which files of the project the checks look at."""

import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def project_files(root: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Files below root with these suffixes, tracked by git or about to be, sorted."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    paths = {root / name for name in listing.split("\0") if name.endswith(suffixes)}
    return sorted(path for path in paths if path.is_file())


def cpp_files(root: Path) -> list[Path]:
    return project_files(root, (".cpp", ".h", ".cu", ".cuh"))


def python_files(root: Path) -> list[Path]:
    return project_files(root, (".py", ".pyi"))


def problems_in(
    paths: Iterable[Path], root: Path, check_file: Callable[[Path, str], list[str]]
) -> list[str]:
    """What a check of one file's text says of all of them, by their paths in the project."""
    return [p for path in paths for p in check_file(path.relative_to(root), path.read_text())]


def report(problems: list[str]) -> None:
    """Prints them, a line each, and ends with status 1 if there are any."""
    print(*problems, sep="\n", end="\n" if problems else "")
    sys.exit(1 if problems else 0)
