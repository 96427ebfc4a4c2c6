"""The environment that Keras's tests run in: .venv-keras, with Tidemark as it stands in build/."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FOLDER = ROOT / ".venv-keras"
REQUIREMENTS = HERE / "requirements.txt"


class MissingError(Exception):
    """The environment cannot be made here; the message says why."""


def cores() -> int:
    return len(os.sched_getaffinity(0))


def ready() -> Path:
    """The environment's Python, after installing what is missing."""
    build = ROOT / "build" / "python"
    if not any(build.glob("tidemark/_tidemark*.so")):
        raise MissingError("nothing is built; run ./dev build first")
    python = FOLDER / "bin" / "python"
    stamp = FOLDER / ".made-from"
    key = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest() + base_python()
    if not (stamp.exists() and stamp.read_text() == key):
        print("Making .venv-keras with Keras and what its tests need", flush=True)
        run(base_python(), "-m", "venv", "--clear", str(FOLDER))
        install = ("-m", "pip", "install", "-q", "--disable-pip-version-check")
        run(str(python), *install, "-r", str(REQUIREMENTS))
        stamp.write_text(key)
    packages = next(FOLDER.glob("lib/python3*/site-packages"))
    (packages / "tidemark.pth").write_text(f"{build}\n{HERE}\n")
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
