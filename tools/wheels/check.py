"""Installs wheels where nothing of this project is, and computes with them.

    python tools/wheels/check.py dist/*.whl           # in a fresh environment of its Python each
    python tools/wheels/check.py --debian bookworm …  # in a bare Debian, without a compiler

Prints, for each, the seconds from the start of the installation to the first result, and of those
the seconds for the packages that Tidemark needs (NumPy, Keras). In fresh environments programs end
in all ways there are, too (tests/python/process_ends.py). A bare Debian needs root and debootstrap.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pythons

ROOT = Path(__file__).resolve().parents[2]
# An op, a gradient, a function, a plan, a picture, a regular expression, a product by the library
# that is opened for it, training with Keras, and what the server says of itself.
PROGRAM = """
import subprocess, sys, numpy as np, tidemark as tf
x = tf.Variable(tf.ones([64, 64]))
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.matmul(x, x) * 2.0)
assert float(tape.gradient(y, x)[0, 0]) == 256.0
double = tf.function(lambda t: tf.tanh(t) * 2.0)
assert np.allclose(double(tf.ones([8])), np.tanh(1.0) * 2.0)
assert tf.strings.regex_replace("a1b2", "[0-9]", "_").numpy() == b"a_b_"
assert tf.io.decode_png(tf.io.encode_png(tf.zeros([4, 4, 3], tf.uint8))).shape == [4, 4, 3]
tf.install_as_tensorflow()
import keras
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4)])
model.compile("adam", "mse")
model.fit(np.ones((32, 8)), np.ones((32, 4)), verbose=0)
server = subprocess.run([sys.executable, "-m", "tidemark", "serve", "--help"], capture_output=True)
assert server.returncode == 0, server.stderr
print("right")
"""


def run(*command, **options) -> str:
    done = subprocess.run(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=False, **options,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}\nended with {done.returncode}")
    return done.stdout


def version_of(wheel: Path) -> str:
    """The Python a wheel is for, by its tag."""
    return "3." + re.search(r"-cp3(\d+)-", wheel.name)[1]


def install_and_compute(python, wheel, enter=()) -> tuple[float, float]:
    """Seconds in all, and of those for what the wheel needs; ``enter``: the command before each."""
    pip = [*enter, python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    needs = ["numpy>=1.23", "keras>=3.10", "diastatic-malt>=2.15.2"]
    started = time.monotonic()
    run(*pip, *needs)
    needed = time.monotonic() - started
    run(*pip, wheel)
    said = run(*enter, python, "-c", PROGRAM, cwd="/")
    if said.split()[-1:] != ["right"]:
        sys.exit(f"the program said:\n{said}")
    return time.monotonic() - started, needed


def check_ends(python) -> None:
    """How programs end (tests/python/process_ends.py), with this Python."""
    sys.path.insert(0, str(ROOT / "tests" / "python"))
    import process_ends

    with tempfile.TemporaryDirectory() as folder:
        faults = [process_ends.fault_of(python, name, folder) for name in process_ends.PROGRAMS]
    if any(faults):
        sys.exit("\n".join(fault for fault in faults if fault))


def in_fresh_environment(wheel: Path) -> tuple[float, float]:
    version = version_of(wheel)
    python = pythons.find(None).get(version)
    if python is None:
        sys.exit(f"{wheel.name} is for Python {version}, which this machine lacks")
    with tempfile.TemporaryDirectory() as folder:
        run(python, "-m", "venv", folder)
        inside = Path(folder) / "bin" / "python"
        seconds = install_and_compute(inside, wheel)
        check_ends(inside)
        return seconds


def in_bare_debian(wheel: Path, release: str) -> tuple[float, float]:
    """In a new root tree with Python and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        wanted = "--include=python3,python3-venv,ca-certificates"
        run("debootstrap", "--variant=minbase", wanted, release, tree)
        shutil.copy(wheel, tree / "root")
        # How this machine reaches packages: names, its settings of pip, whom it trusts.
        trusted = "/etc/ssl/certs/ca-certificates.crt"
        for settings in ("/etc/resolv.conf", "/etc/pip.conf", trusted):
            if os.path.exists(settings):
                shutil.copy(settings, tree / settings.lstrip("/"))
        enter = ["chroot", tree, "env", "HOME=/root"]
        enter += [
            f"{name}={value}" for name, value in os.environ.items() if name.startswith("PIP_")
        ]
        run("mount", "-t", "proc", "proc", tree / "proc")
        try:
            run(*enter, "python3", "-m", "venv", "/root/environment")
            inside = f"/root/{wheel.name}"
            return install_and_compute("/root/environment/bin/python", inside, enter)
        finally:
            run("umount", tree / "proc")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheels", type=Path, nargs="+")
    parser.add_argument("--debian", help="in a bare tree of this release, for its own Python")
    options = parser.parse_args()
    for wheel in options.wheels:
        wheel = wheel.resolve()
        if options.debian:
            seconds, needed = in_bare_debian(wheel, options.debian)
        else:
            seconds, needed = in_fresh_environment(wheel)
        own = seconds - needed
        print(f"{wheel.name}: {seconds:.1f} s, {own:.1f} s beyond what it needs", flush=True)


if __name__ == "__main__":
    main()
