"""Blocks between space, depth and batch, morphology, and lookups by sparse ids."""

from types import SimpleNamespace

import numpy as np
import pytest
from arrays import assert_close, sample
from hypothesis import given, settings
from hypothesis import strategies as st

import tidemark as tf


@given(
    st.integers(0, 2), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.integers(2, 3)
)
@settings(max_examples=40, deadline=None)
def test_depth_and_space_undo_each_other(n, h, w, c, b):
    x = np.arange(n * h * w * c * b * b).reshape(n, h * b, w * b, c)
    deep = tf.nn.space_to_depth(x, b)
    expected = x.reshape(n, h, b, w, b, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h, w, b * b * c)
    assert_close(deep, expected)
    assert_close(tf.nn.depth_to_space(deep, b), x)
    first = tf.nn.space_to_depth(x.transpose(0, 3, 1, 2), b, "NCHW")
    assert_close(first, expected.transpose(0, 3, 1, 2))
    assert_close(tf.nn.depth_to_space(first, b, "NCHW"), x.transpose(0, 3, 1, 2))


@given(
    st.integers(1, 3), st.integers(1, 3), st.integers(0, 2), st.integers(0, 2), st.integers(0, 9)
)
@settings(max_examples=40, deadline=None)
def test_batch_and_space_undo_each_other(b1, b2, top, left, seed):
    x = sample("float32", (2, 5, 4, 2), seed)
    paddings = [[top, (-5 - top) % b1], [left, (-4 - left) % b2]]
    batches = tf.space_to_batch(x, [b1, b2], paddings)
    padded = np.pad(x, [(0, 0), *paddings, (0, 0)])
    for i in range(b1):
        for j in range(b2):
            row = 2 * (i * b2 + j)
            assert_close(batches[row : row + 2], padded[:, i::b1, j::b2])
    assert_close(tf.batch_to_space(batches, [b1, b2], paddings), x)


def test_bad_blocks():
    x = np.zeros((1, 4, 6, 3))
    for ask in (
        lambda: tf.nn.space_to_depth(x, 4),
        lambda: tf.nn.space_to_depth(x, 1),
        lambda: tf.nn.space_to_depth(x[0], 2),
        lambda: tf.nn.space_to_depth(x, 2, "CHWN"),
        lambda: tf.nn.depth_to_space(x, 2),
        lambda: tf.space_to_batch(x, [3], [[0, 0]]),
        lambda: tf.space_to_batch(x, [2], [[0, 0], [0, 0]]),
        lambda: tf.space_to_batch(x, [0], [[0, 0]]),
        lambda: tf.space_to_batch(x, [2], [[-2, 0]]),
        lambda: tf.batch_to_space(x, [2], [[0, 0]]),
        lambda: tf.batch_to_space(np.zeros((2, 3)), [2], [[4, 4]]),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            ask()


def test_gradients_flow():
    x = tf.constant(sample("float64", (1, 4, 4, 3)))
    weights = tf.constant(sample("float64", (2, 2, 3)))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, weights])
        y = tf.nn.dilation2d(x, weights, [1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1])
        z = tf.reduce_sum(tf.nn.space_to_depth(x, 2) ** 2)
    assert_close(tape.gradient(z, x), 2 * x.numpy())
    # Each maximum passes its gradient on to one pixel and one element of the filter.
    assert tf.reduce_sum(tape.gradient(y, x)).numpy() == 27
    assert_close(tf.reduce_sum(tape.gradient(y, weights), [0, 1]), np.full(3, 9.0))


def test_bad_morphology():
    x, f = np.zeros((1, 4, 4, 3)), np.zeros((2, 2, 3))
    ones = [1, 1, 1, 1]
    with pytest.raises(ValueError, match="data_format"):
        tf.nn.dilation2d(x, f, ones, "SAME", "NCHW", ones)
    with pytest.raises(ValueError, match="padding"):
        tf.nn.dilation2d(x, f, ones, "MAYBE", "NHWC", ones)
    with pytest.raises(tf.errors.InvalidArgumentError, match="reaches"):
        tf.nn.dilation2d(x, f, ones, "VALID", "NHWC", [1, 9, 1, 1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="takes"):
        tf.nn.dilation2d(x[0], f, ones, "VALID", "NHWC", ones)


# --- sparse lookups ------------------------------------------------------------------------------


def sparse(indices, values, dense_shape):
    return SimpleNamespace(
        indices=tf.constant(indices, tf.int64),
        values=tf.constant(values),
        dense_shape=tf.constant(dense_shape, tf.int64),
    )


TABLE = sample("float64", (6, 3))
IDS = sparse([[0, 0], [0, 1], [2, 0], [2, 3], [2, 4]], [1, 3, 0, 5, 5], [4, 5])
WEIGHTS = sparse([[0, 0], [0, 1], [2, 0], [2, 3], [2, 4]], [1.0, 2.0, 0.5, 3.0, 1.0], [4, 5])


def combined(combiner, weights):
    rows = []
    for ids, w in (([1, 3], [1, 2]), ([], []), ([0, 5, 5], [0.5, 3, 1])):
        w = np.array(w if weights else [1] * len(ids), float)
        total = (TABLE[ids] * w[:, None]).sum(0)
        by = {"sum": 1, "mean": w.sum(), "sqrtn": np.sqrt((w**2).sum())}[combiner]
        rows.append(total / by if len(ids) else np.zeros(3))
    return np.array(rows)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
def test_sparse_lookup(combiner, weighted):
    weights = WEIGHTS if weighted else None
    got = tf.nn.embedding_lookup_sparse(TABLE, IDS, weights, combiner)
    assert_close(got, combined(combiner, weighted), rtol=1e-6)
    got = tf.nn.safe_embedding_lookup_sparse(TABLE, IDS, weights, combiner)
    expected = np.concatenate([combined(combiner, weighted), np.zeros((1, 3))])
    assert_close(got, expected, rtol=1e-6)
    expected[[1, 3]] = TABLE[2]
    got = tf.nn.safe_embedding_lookup_sparse(TABLE, IDS, weights, combiner, default_id=2)
    assert_close(got, expected, rtol=1e-6)


def test_safe_lookup_leaves_out_what_is_invalid():
    ids = sparse([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]], [1, -1, 2, 3], [2, 2, 2])
    weights = sparse([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]], [1.0, 1.0, 0.0, 4.0], [2, 2, 2])
    got = tf.nn.safe_embedding_lookup_sparse(TABLE, ids, weights).numpy()
    assert got.shape == (2, 2, 3)
    np.testing.assert_allclose(got[0], [TABLE[1], np.zeros(3)])
    np.testing.assert_allclose(got[1], [TABLE[3], np.zeros(3)])


def test_sparse_lookup_limits_and_gradients():
    got = tf.nn.embedding_lookup_sparse(TABLE * 9, IDS, None, "sum", max_norm=1.0)
    unit = TABLE / np.linalg.norm(TABLE, axis=1, keepdims=True)
    assert_close(got[0], unit[1] + unit[3], rtol=1e-6)
    x = tf.Variable(TABLE)
    with tf.GradientTape() as tape:
        y = tf.nn.embedding_lookup_sparse(x, IDS, WEIGHTS, "sum")
    gradient = tf.convert_to_tensor(tape.gradient(y, x)).numpy()
    np.testing.assert_allclose(gradient[:, 0], [0.5, 1, 0, 2, 0, 4])
    with pytest.raises(ValueError, match="combiner"):
        tf.nn.embedding_lookup_sparse(TABLE, IDS, None, "median")
    with pytest.raises(TypeError, match="SparseTensor"):
        tf.nn.embedding_lookup_sparse(TABLE, [1, 2], None)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.nn.embedding_lookup_sparse(TABLE, sparse([[0, 0]], [6], [1, 1]), None)
