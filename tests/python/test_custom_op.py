"""An op of a user's own, from C++ source to a call in Python."""

import inspect
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tidemark as tf

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    if not shutil.which("g++"):
        pytest.skip("no g++")
    package = Path(tf.__file__).parent
    built = tmp_path_factory.mktemp("custom_op") / "libsmooth_clip.so"
    command = ["g++", "-std=c++20", "-O1", "-shared", "-fPIC", f"-I{ROOT / 'include'}"]
    source = ROOT / "examples" / "custom_op" / "smooth_clip.cpp"
    done = subprocess.run(
        [*command, source, "-o", built, f"-L{package}", "-ltidemark", f"-Wl,-rpath,{package}"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return tf.load_op_library(built)


def test_calls(library):
    x = np.float32([-100, 0, 0.5, 100])
    y = library.smooth_clip(x, limit=2.0)
    np.testing.assert_allclose(y.numpy(), 2 * np.tanh(x / 2), rtol=1e-6)
    assert library.smooth_clip(x.astype(np.float64)).dtype is tf.float64
    assert list(inspect.signature(library.smooth_clip).parameters) == ["x", "limit", "name"]


def test_errors_and_memory(library):
    live = tf.memory.stats().live
    with pytest.raises(tf.errors.InvalidArgumentError, match="'limit' must be above 0"):
        library.smooth_clip([1.0], limit=-1.0)
    with pytest.raises(tf.errors.InvalidArgumentError):
        library.smooth_clip(tf.constant([1]))
    assert tf.memory.stats().live == live
    x = tf.ones([1000])
    y = library.smooth_clip(x)
    assert any(buffer["op"] == "smooth_clip" for buffer in tf.memory.live())
    del x, y
    assert tf.memory.stats().live == live


def test_loading_again_gives_the_same_ops(library, tmp_path):
    with pytest.raises(tf.errors.NotFoundError):
        tf.load_op_library(tmp_path / "missing.so")
    with pytest.raises(AttributeError):
        _ = library.no_such_op
