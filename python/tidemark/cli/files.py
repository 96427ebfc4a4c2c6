"""Files that commands write."""

from __future__ import annotations

from pathlib import Path

from tidemark.cli import InputError


def write(path: str | Path, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
