"""An environment for each package: .venv-ecosystem/NAME, with Tidemark as it stands in build/."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FOLDER = ROOT / ".venv-ecosystem"
OWN = ("diastatic-malt>=2.15.2", "keras>=3.10")  # what Tidemark itself needs


class MissingError(Exception):
    """The environment cannot be made here; the message says why."""


def ready(package, more=()) -> Path:
    """The Python of a package's environment, after fetching what is missing from PyPI; ``more``:
    what is wanted there beside what the package needs."""
    build = ROOT / "build" / "python"
    if not any(build.glob("tidemark/_tidemark*.so")):
        raise MissingError("nothing is built; run ./dev build first")
    folder = FOLDER / package.name
    python, stamp = folder / "bin" / "python", folder / ".made-from"
    needs = (*package.needs, *more, *OWN)
    wanted = " ".join((*package.alone, "+", *needs, base_python()))
    key = hashlib.sha256(wanted.encode()).hexdigest()
    if not (stamp.exists() and stamp.read_text() == key):
        print(f"Making .venv-ecosystem/{package.name}", flush=True)
        run(base_python(), "-m", "venv", "--clear", str(folder))
        install = (str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check")
        run(*install, *needs)
        run(*install, "--no-deps", *package.alone)
        stamp.write_text(key)
    packages = next(folder.glob("lib/python3*/site-packages"))
    (packages / "tidemark.pth").write_text(f"{build}\n")
    return python


def base_python() -> str:
    """The Python that Tidemark was built for."""
    made_from = ROOT / ".venv" / ".made-from"
    return made_from.read_text().split()[0] if made_from.exists() else sys.executable


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no output"]
        raise MissingError(f"{' '.join(command[1:4])} failed: {lines[-1]}")
