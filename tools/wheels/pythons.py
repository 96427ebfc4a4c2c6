"""Which Pythons of this machine a wheel can be made for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

VERSIONS = [f"3.{minor}" for minor in range(10, 15)]
# Prints the version where this Python can compile extensions and make environments.
QUESTION = """
import ensurepip, os, sys, sysconfig, venv
assert sys.implementation.name == "cpython"
assert os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
print("%d.%d" % sys.version_info[:2] + ("t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""))
"""


def version_of(python: Path) -> str | None:
    """ "3.12", or "3.13t" without the interpreter's lock; None: no Python to compile for."""
    try:
        done = subprocess.run(
            [python, "-c", QUESTION], capture_output=True, text=True, timeout=60, check=False
        )
    except OSError:
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None


def candidates() -> list[Path]:
    """Where Pythons are: on the PATH by their versions, and under pyenv."""
    folders = [Path(folder) for folder in os.get_exec_path()]
    named = [folder / f"python{version}" for folder in folders for version in VERSIONS]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    return [Path(sys.executable).resolve(), *named, *sorted(pyenv.glob("3.*/bin/python3"))]


def find(asked: list[Path] | None) -> dict[str, Path]:
    """Versions and the first Python of each; of those asked for, all."""
    found: dict[str, Path] = {}
    for python in asked or candidates():
        version = version_of(python) if python.exists() else None
        if version is None and asked:
            sys.exit(f"{python} is no CPython with headers and venv: install python3-dev, -venv")
        if version and version.rstrip("t") in VERSIONS:
            found.setdefault(version, python)
    order = sorted(found, key=lambda version: (int(version.rstrip("t")[2:]), version))
    return {version: found[version] for version in order}
