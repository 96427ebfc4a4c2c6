"""An op of a user's own, from C++ source to a call in Python."""

import inspect
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tidemark as tf

ROOT = Path(__file__).resolve().parents[2]


def compiled(source, built, *options):
    if not shutil.which("g++"):
        pytest.skip("no g++")
    package = Path(tf.__file__).parent
    command = ["g++", "-std=c++20", "-O1", "-shared", "-fPIC", f"-I{ROOT / 'include'}", *options]
    done = subprocess.run(
        [*command, source, "-o", built, f"-L{package}", "-ltidemark", f"-Wl,-rpath,{package}"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return built


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    built = tmp_path_factory.mktemp("custom_op") / "libsmooth_clip.so"
    return tf.load_op_library(compiled(ROOT / "examples/custom_op/smooth_clip.cpp", built))


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


def test_files_that_are_no_library(library, tmp_path):
    whole = Path(compiled(ROOT / "tests/python/data/broken_ops.cpp", tmp_path / "whole.so"))
    content = whole.read_bytes()
    file = tmp_path / "file.so"
    for size in (0, 3, 16, 63, 64, 100, 1000, 4096):
        file.write_bytes(content[:size])
        with pytest.raises((tf.errors.NotFoundError, tf.errors.InvalidArgumentError)):
            tf.load_op_library(file)
    file.write_bytes(b"text" * 5000)
    for path in (file, tmp_path, "", "a\0b", tmp_path / ("long" * 2000)):
        with pytest.raises((tf.errors.NotFoundError, tf.errors.InvalidArgumentError)):
            tf.load_op_library(path)


def test_definitions_that_are_refused(tmp_path):
    source = ROOT / "tests/python/data/broken_ops.cpp"
    built = compiled(source, tmp_path / "libbroken.so", "-DBROKEN_DEFINITIONS")
    for _ in range(2):  # it stays unusable, also for who tries again
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            tf.load_op_library(built)
        for part in ("named 'add' is already", "'broken_no_output' has no output",
                     "'broken_no_rule' has no shape rule", "no input 'z'", "no attribute 'n'",
                     "[add] has a kernel for float32", "'broken_among'"):  # fmt: skip
            assert part in caught.value.message
    assert (tf.constant([1.0]) + 1).numpy() == [2]


def test_kernels_and_rules_that_misbehave(tmp_path):
    source = ROOT / "tests/python/data/broken_ops.cpp"
    ops = tf.load_op_library(compiled(source, tmp_path / "libbroken_kernels.so"))
    x = tf.ones([4, 3])
    before = tf.memory.stats()
    huge = 2**62
    for ask, error in (
        (lambda: ops.broken_throws(x), tf.errors.InternalError),
        (lambda: ops.broken_throws(x, n=1), tf.errors.UnknownError),
        (lambda: ops.broken_rule_throws(x), tf.errors.InternalError),
        (lambda: ops.broken_size(x, n=-1), tf.errors.InvalidArgumentError),
        (lambda: ops.broken_size(x, n=huge), tf.errors.InvalidArgumentError),
        (lambda: ops.broken_size(x, n=2**45), tf.errors.ResourceExhaustedError),
        (lambda: ops.broken_rows(x, n=5), tf.errors.InternalError),
        (lambda: ops.broken_rows(x, n=huge), tf.errors.InvalidArgumentError),
        (lambda: ops.broken_rows(x, n=-1), tf.errors.InvalidArgumentError),
        (lambda: ops.broken_workspace(x, n=2**45), tf.errors.ResourceExhaustedError),
        (lambda: ops.broken_workspace(x, n=-1), tf.errors.ResourceExhaustedError),
        (lambda: ops.broken_view(x, n=1), tf.errors.InternalError),
        (lambda: ops.broken_view(x, n=-1), tf.errors.InternalError),
        (lambda: ops.broken_no_kernel(x), tf.errors.UnimplementedError),
        (lambda: ops.broken_size(tf.constant(1.0, tf.float64)), tf.errors.UnimplementedError),
    ):
        with pytest.raises(error):
            ask()
    assert ops.broken_rows(x, n=2).shape == (2, 3) and ops.broken_view(x).shape == (4, 3)
    assert ops.broken_size(x, n=2).numpy().sum() == 6
    after = tf.memory.stats()
    assert (after.live, after.live_buffers) == (before.live, before.live_buffers)
