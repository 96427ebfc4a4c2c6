"""Reductions against NumPy over axes, dtypes, empty inputs and NaN."""

import numpy as np
import pytest
from arrays import FLOATS, REAL, SHAPES, assert_close, sample
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import tidemark as tf

TABLE = [
    ("reduce_sum", np.sum, REAL),
    ("reduce_prod", np.prod, REAL),
    ("reduce_max", np.max, REAL),
    ("reduce_min", np.min, REAL),
    ("reduce_mean", np.mean, FLOATS),
    ("reduce_any", np.any, ("bool",)),
    ("reduce_all", np.all, ("bool",)),
    ("math.reduce_std", np.std, FLOATS),
    ("math.reduce_variance", np.var, FLOATS),
]
ROWS = [pytest.param(n, f, d, id=f"{n}-{d}") for n, f, ds in TABLE for d in ds]


def function(name):
    return getattr(tf.math, name.split(".")[-1])


def reduced(numpy, a, axis, keepdims):
    """NumPy's result in the dtype of the input, as TensorFlow keeps it."""
    wide = a.astype(np.float64) if a.dtype.kind == "f" else a
    return np.asarray(numpy(wide, axis=axis, keepdims=keepdims)).astype(a.dtype)


@pytest.mark.parametrize(("name", "numpy", "dtype"), ROWS)
@np.errstate(all="ignore")
def test_against_numpy(name, numpy, dtype):
    needs_elements = name in ("reduce_max", "reduce_min")
    rtol = 2e-2 if dtype == "float16" else 2e-5 if dtype in ("float32", "complex64") else 1e-11
    rtol = 0 if np.dtype(dtype).kind in "iub" else rtol
    for shape in SHAPES:
        a = sample(dtype, shape, 4, low=1 if np.dtype(dtype).kind in "iu" else 0.5, high=2)
        axes = [None, *range(-len(shape), len(shape))]
        if len(shape) > 1:
            axes += [(0, 1), (-1, 0)]
        for axis in axes:
            if a.size == 0 and (needs_elements or dtype == "bool" or name.startswith("math")):
                continue
            if a.size == 0 and name == "reduce_mean":
                continue
            for keepdims in (False, True):
                expected = reduced(numpy, a, axis, keepdims)
                listed = list(axis) if isinstance(axis, tuple) else axis
                ours = function(name)(tf.constant(a), axis=listed, keepdims=keepdims)
                assert_close(ours, expected, rtol=rtol)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_any_axes_of_any_shape(data):
    shape = data.draw(npst.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=4))
    a = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
    axes = data.draw(st.lists(st.integers(0, max(0, a.ndim - 1)), unique=True, max_size=a.ndim))
    axes = axes if a.ndim else []
    keepdims = data.draw(st.booleans())
    expected = np.sum(a, axis=tuple(axes), keepdims=keepdims, dtype=np.int32)
    signed = [x - a.ndim if data.draw(st.booleans()) else x for x in axes]
    assert_close(tf.reduce_sum(a, axis=signed, keepdims=keepdims), expected)


def test_axis_as_a_tensor():
    a = sample("float32", (2, 3))
    for axis in (tf.constant(1), tf.constant([1]), np.array([1]), np.int64(1)):
        assert_close(tf.reduce_sum(a, axis=axis), a.sum(1), rtol=1e-5)


def test_empty_inputs():
    empty = tf.zeros([0, 3])
    assert tf.reduce_sum(empty).numpy() == 0 and tf.reduce_prod(empty).numpy() == 1
    assert tf.reduce_sum(empty, axis=0).numpy().tolist() == [0, 0, 0]
    assert tf.reduce_max(empty, axis=0).numpy().tolist() == [-np.inf] * 3
    assert tf.reduce_min(empty, axis=0).numpy().tolist() == [np.inf] * 3
    assert np.isnan(tf.reduce_mean(empty).numpy())
    assert tf.reduce_all(tf.zeros([0], tf.bool)).numpy() and not tf.reduce_any(
        tf.zeros([0], tf.bool)
    )
    assert tf.reduce_max(tf.zeros([0], tf.int32)).numpy() == -(2**31)


def test_nan_wins():
    a = tf.constant([1.0, np.nan, 3.0])
    assert np.isnan(tf.reduce_max(a).numpy()) and np.isnan(tf.reduce_min(a).numpy())
    assert np.isnan(tf.reduce_sum(a).numpy())
    assert tf.reduce_sum(tf.constant([np.inf, 1.0])).numpy() == np.inf


def test_long_sums_are_accurate():
    a = np.full(10_000_000, 0.1, np.float32)
    assert abs(tf.reduce_sum(a).numpy() / (a.astype(np.float64).sum()) - 1) < 1e-6
    assert tf.reduce_mean(tf.fill([70_000], tf.constant(2.0, tf.float16))).numpy() == 2


def test_logsumexp():
    a = sample("float64", (3, 4))
    expected = np.log(np.exp(a).sum(1))
    assert_close(tf.reduce_logsumexp(a, axis=1), expected, rtol=1e-12)
    big = tf.constant([1000.0, 1000.0])
    assert_close(tf.reduce_logsumexp(big), np.float32(1000 + np.log(2)), rtol=1e-6)
    assert tf.reduce_logsumexp(tf.constant([-np.inf, -np.inf])).numpy() == -np.inf


def test_euclidean_norm_and_counts():
    a = sample("float32", (3, 4))
    assert_close(tf.math.reduce_euclidean_norm(a, 1), np.sqrt((a * a).sum(1)), rtol=1e-5)
    counted = np.array([[0, 1, 2], [0, 0, 3]])
    assert tf.math.count_nonzero(counted).numpy() == 3
    assert_close(tf.math.count_nonzero(counted, axis=1), np.array([2, 1]))
    assert tf.math.count_nonzero(counted, dtype=tf.int32).dtype is tf.int32
    assert tf.math.count_nonzero([True, False]).numpy() == 1
    assert tf.math.count_nonzero(["", "a"]).numpy() == 1
    assert_close(tf.math.zero_fraction([0, 1, 0]), np.float32(2 / 3), rtol=1e-6)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: tf.reduce_sum(tf.zeros([2]), axis=1),
        lambda: tf.reduce_sum(tf.zeros([2]), axis=-2),
        lambda: tf.reduce_sum(tf.zeros([2, 2]), axis=[0, 0]),
        lambda: tf.reduce_sum(tf.constant(["a"])),
        lambda: tf.reduce_mean(tf.constant([True])),
        lambda: tf.reduce_any(tf.constant([1])),
    ],
)
def test_bad_axes_and_types(ask):
    with pytest.raises(tf.errors.InvalidArgumentError):
        ask()


def test_results_do_not_depend_on_the_number_of_threads():
    a = tf.constant(sample("float32", (1_000_003,)))
    results = set()
    try:
        for threads in (1, 2):
            tf.config.threading.set_intra_op_parallelism_threads(threads)
            results.add((tf.reduce_sum(a).numpy(), tf.math.reduce_variance(a).numpy()))
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(0)
    assert len(results) == 1
