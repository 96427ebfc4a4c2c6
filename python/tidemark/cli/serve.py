"""``tidemark serve``: the model server, a program of its own without Python."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ABOUT = "answer requests to saved models over HTTP"
_PROGRAM = "tidemark-serve"


def program() -> Path | None:
    """Where the server is: beside the libraries of the package."""
    path = Path(__file__).resolve().parent.parent / _PROGRAM
    if not path.exists():  # a build tree links Python files; the package's folder is another
        path = Path(sys.modules["tidemark"].__file__).parent / _PROGRAM
    return path if path.exists() else None


def replace_process(arguments: list[str]) -> int:
    """Becomes the server."""
    path = program()
    if path is None:
        print(
            "tidemark serve: this package was built without the server. Install libboost-dev and "
            "libsimdjson-dev and build it again",
            file=sys.stderr,
        )
        return 2
    os.execv(path, [str(path), *arguments])
