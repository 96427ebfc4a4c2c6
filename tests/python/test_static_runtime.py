"""Linked by a compiler whose C++ library is an archive, the libraries keep it to themselves."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
NINJA = shutil.which("ninja")

pytestmark = pytest.mark.skipif(
    NINJA is None or not (BUILD / "build.ninja").exists(), reason="needs the build folder"
)

PROGRAM = """
import numpy
import tidemark as tf
x = tf.constant([1.0, 2.0])
try:
    tf.reshape(x, [3])
except tf.errors.InvalidArgumentError as error:
    assert "2 values" in str(error), error
f = tf.function(lambda a: tf.reduce_sum(tf.exp(a) * a))
assert abs(float(f(x)) - 17.4964) < 1e-3
assert tf.strings.as_string(tf.constant(7)).numpy() == b"7"
print(tf.__file__)
"""


def link_statically(target, output):
    """Links a target of the build folder again, the C++ library from its archive."""
    commands = subprocess.run(
        [NINJA, "-t", "commands", target], cwd=BUILD, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    link = next(line for line in reversed(commands) if f"-o {target} " in line)
    link = re.sub(r"^: && | && .*$", "", link)
    link = link.replace(f"-o {target} ", f"-o {output} -static-libstdc++ ")
    subprocess.run(["bash", "-c", link], cwd=BUILD, check=True)


def exported(library):
    symbols = subprocess.run(
        ["nm", "-DC", "--defined-only", library], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    # Weak ones are templates of headers, the same everywhere.
    return [s for s in symbols if re.search(r" [TDBR] (?!.*tidemark::|PyInit)", s) and "std::" in s]


def test_a_static_cpp_library_stays_inside(tmp_path):
    package = tmp_path / "tidemark"
    shutil.copytree(BUILD / "python" / "tidemark", package, symlinks=True)
    extension = next(package.glob("_tidemark.*.so")).name
    for library in (extension, "libtidemark.so"):
        (package / library).unlink()
    link_statically("libtidemark.so", package / "libtidemark.so")
    link_statically(f"python/tidemark/{extension}", package / extension)
    for library in ("libtidemark.so", extension):
        assert (package / library).stat().st_size > 2**18
        assert exported(package / library) == []
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin", "LD_PRELOAD": "libstdc++.so.6"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(package / "__init__.py")
