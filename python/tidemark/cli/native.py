"""Programs that are no Python: they run as processes of their own and record themselves."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from tidemark import errors
from tidemark.cli import InputError

_ELF = b"\x7fELF"


def is_native(path: str) -> bool:
    """Whether the file is a program for this machine, as C++ programs are."""
    try:
        with open(path, "rb") as file:
            return file.read(len(_ELF)) == _ELF
    except OSError:
        return False


def look_at(program: list[str], path: str | None = None, quiet: bool = False):
    """Runs a program under the recorder; (Run, its exit status)."""
    from tidemark._explain.looking import recorded  # only reports need it

    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        path = path or os.path.join(folder, "program.recording")
        command = [os.path.abspath(program[0]), *program[1:]]
        environment = {**os.environ, "TIDEMARK_RECORD": os.path.abspath(path)}
        try:
            done = subprocess.run(
                command, env=environment, stdout=sys.stderr if quiet else None, check=False
            )
        except OSError as error:
            raise InputError(f"cannot run {program[0]}: {error.strerror}") from None
        if not os.path.exists(path):
            raise InputError(f"{program[0]} left no recording: it does not use libtidemark.so")
        try:
            found = recorded(path)
        except errors.OpError as error:
            raise InputError(f"{program[0]} left no whole recording: {error}") from None
    # As a shell tells of a program that a signal ended.
    return found, done.returncode if done.returncode >= 0 else 128 - done.returncode
