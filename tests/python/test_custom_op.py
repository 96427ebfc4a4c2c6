"""An op of a user's own, from C++ source to a call in Python."""

import gc
import inspect
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import tidemark.compat.v1 as v1
from environments import needs_plans
from tidemark._graph.vectorized import vectorized

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
                     "[add] has a kernel for float32", "'broken_among'",
                     "'broken_axis' has no attribute 'axis'", "'broken_relu' cannot be Relu",
                     "'broken_test' has other dtypes", "'add' has kernels already"):  # fmt: skip
            assert part in caught.value.message
    assert (tf.constant([1.0]) + 1).numpy() == [2]


def test_kernels_and_rules_that_misbehave(tmp_path):
    source = ROOT / "tests/python/data/broken_ops.cpp"
    ops = tf.load_op_library(compiled(source, tmp_path / "libbroken_kernels.so"))
    x = tf.ones([4, 3])
    gc.collect()  # what tests before this one left
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
    plan = tf.function(lambda x: ops.broken_row_rule(x * 2.0) @ x, memory_budget="1KB").plan
    with pytest.raises(tf.errors.InternalError, match="its rule about rows tells of 0 and 1"):
        plan(tf.ones([64, 64]))


# --- ops whose definitions say what is known of them ---------------------------------------------


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    built = tmp_path_factory.mktemp("described") / "libdescribed.so"
    return tf.load_op_library(compiled(ROOT / "tests/python/data/described_ops.cpp", built))


def soft_threshold(x, by):
    return np.sign(x) * np.maximum(np.abs(x) - by, 0)


def centre(x, axis):
    return x - (x.max(axis, keepdims=True) + x.min(axis, keepdims=True)) / 2


def normal(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_an_elementwise_op_is_said_for_one_element(described, dtype):
    for shape in ((), (3,), (1000, 17), (0, 4)):
        x = tf.cast(normal(*shape), dtype)
        y = described.soft_threshold(x, by=0.25)
        assert y.dtype == x.dtype and y.shape == x.shape
        wide = tf.cast(x, tf.float64).numpy()
        np.testing.assert_allclose(tf.cast(y, tf.float64), soft_threshold(wide, 0.25), atol=2e-2)


@needs_plans
def test_it_is_fused(described):
    @tf.function
    def f(x):
        return tf.exp(described.soft_threshold(x * 2.0, by=0.25)) + 1.0

    x = normal(64, 100)
    for _ in range(3):  # the first call runs step by step
        np.testing.assert_allclose(f(x), np.exp(soft_threshold(x * 2, 0.25)) + 1, rtol=1e-5)
    assert [step.op for step in f.plan(x).steps] == ["fused"]


@needs_plans
def test_it_runs_on_a_part_of_the_rows(described):
    def f(x, w):
        return tf.reduce_max(described.centre(tf.matmul(x, w)), axis=-1)

    x, w = normal(512, 32), normal(32, 1024)
    whole = tf.function(f, memory_budget="1TB").plan(x, w).peak
    split = tf.function(f, memory_budget=whole // 4)
    assert split.plan(x, w).splits
    np.testing.assert_allclose(split(x, w), centre(x @ w, -1).max(-1), rtol=1e-4)


def test_it_is_done_for_all_elements_at_once(described):
    x = normal(5, 4, 3)
    y = vectorized(lambda m: described.centre(described.soft_threshold(m, by=0.1), axis=0), x)
    np.testing.assert_allclose(y, centre(soft_threshold(x, 0.1), 1), rtol=1e-5, atol=1e-6)
    y = vectorized(described.centre, x)
    np.testing.assert_allclose(y, centre(x, -1), rtol=1e-5, atol=1e-6)


def test_it_travels_under_the_name_of_tensorflow(described):
    x = normal(4, 3)
    with v1.Graph().as_default() as graph:
        given = v1.placeholder(tf.float32, [4, 3], name="x")
        thin = described.soft_threshold(given, by=0.25, name="thin")
        tf.identity(described.centre(thin, axis=0), name="y")
        written = graph.as_graph_def()
    by_name = {node.name: node for node in written.node}
    assert by_name["thin"].op == "SoftThreshold" and by_name["thin"].attr["lambda"].f == 0.25
    assert "Centre" in {node.op for node in written.node}
    with v1.Graph().as_default(), v1.Session() as session:
        (y,) = v1.import_graph_def(written, name="", return_elements=["y:0"])
        found = session.run(y, {"x:0": x})
    np.testing.assert_allclose(found, centre(soft_threshold(x, 0.25), 0), rtol=1e-5, atol=1e-6)
