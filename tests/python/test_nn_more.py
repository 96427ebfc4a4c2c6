"""Losses, statistics, lookups and fused normalisations of tf.nn against NumPy."""

import numpy as np
import pytest
from arrays import FLOATS, assert_close, sample

import tidemark as tf

X = sample("float64", (3, 5), 1)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1,), (3, 17), (2, 5, 64), (0, 4), (4, 0)])
def test_softmax_over_dtypes_and_shapes(dtype, shape):
    x = sample(dtype, shape, 2)
    for axis in range(-1, len(shape)):
        if x.size == 0:
            assert tf.nn.softmax(x, axis).shape == shape
            continue
        wide = x.astype("float64")
        e = np.exp(wide - wide.max(axis, keepdims=True))
        expected = (e / e.sum(axis, keepdims=True)).astype(dtype)
        assert_close(tf.nn.softmax(x, axis), expected)


def test_sparse_labels_out_of_range():
    with pytest.raises(tf.errors.InvalidArgumentError, match="outside the valid range"):
        tf.nn.sparse_softmax_cross_entropy_with_logits([5], [[1.0, 2.0]])
    empty = tf.nn.sparse_softmax_cross_entropy_with_logits(np.zeros(0, "int32"), np.zeros((0, 3)))
    assert empty.shape == (0,)


def test_cross_entropy_along_another_axis():
    logits, labels = sample("float64", (3, 4, 2), 1), sample("float64", (3, 4, 2), 2, 0, 1)
    labels /= labels.sum(1, keepdims=True)
    logp = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    ours = tf.nn.softmax_cross_entropy_with_logits(labels, logits, axis=1)
    assert_close(ours, -(labels * logp).sum(1), rtol=1e-11)


@pytest.mark.parametrize("dtype", FLOATS)
def test_layer_and_rms_norm(dtype):
    x, scale = sample(dtype, (2, 3, 70), 1), sample(dtype, (70,), 2)
    offset = sample(dtype, (70,), 3)
    w = x.astype("float64")
    normal = (w - w.mean(-1, keepdims=True)) / np.sqrt(w.var(-1, keepdims=True) + 1e-5)
    expected = (normal * scale + offset).astype(dtype)
    limit = {"float16": 1e-2, "float32": 1e-5, "float64": 1e-11}[dtype]
    assert_close(tf.nn.experimental.layer_norm(x, scale, offset), expected, rtol=limit)
    assert_close(tf.nn.experimental.layer_norm(x), normal.astype(dtype), rtol=limit)
    root = np.sqrt((w * w).mean(-1, keepdims=True) + 1e-6)
    assert_close(
        tf.nn.experimental.rms_norm(x, scale), (w / root * scale).astype(dtype), rtol=limit
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="as long as the last dimension"):
        tf.nn.experimental.rms_norm(x, scale[:3])


def test_weighted_cross_entropy_and_poisson():
    labels = sample("float64", (3, 5), 4, 0, 1)
    p = 1 / (1 + np.exp(-X))
    expected = -(3.0 * labels * np.log(p) + (1 - labels) * np.log(1 - p))
    assert_close(tf.nn.weighted_cross_entropy_with_logits(labels, X, 3.0), expected, rtol=1e-10)
    targets = np.array([0.5, 1.0, 4.0])
    logs = np.array([0.1, -0.3, 1.0])
    plain = np.exp(logs) - targets * logs
    assert_close(tf.nn.log_poisson_loss(targets, logs), plain, rtol=1e-11)
    stirling = 4 * np.log(4) - 4 + 0.5 * np.log(2 * np.pi * 4)
    full = plain + np.array([0, 0, stirling])
    assert_close(tf.nn.log_poisson_loss(targets, logs, True), full, rtol=1e-11)
    with pytest.raises(ValueError, match="same shape"):
        tf.nn.log_poisson_loss(targets, X)


def test_statistics():
    count, total, squares, shift = tf.nn.sufficient_statistics(X, [0])
    assert float(count) == 3 and shift is None
    mean, variance = tf.nn.normalize_moments(count, total, squares, shift)
    assert_close(mean, X.mean(0), rtol=1e-11)
    assert_close(variance, X.var(0), rtol=1e-10)
    weights = sample("float64", (3, 1), 6, 0.5, 2)
    mean, variance = tf.nn.weighted_moments(X, [0], weights)
    expected = (X * weights).sum(0) / weights.sum()
    assert_close(mean, expected, rtol=1e-11)
    spread = ((X - expected) ** 2 * weights).sum(0) / weights.sum()
    assert_close(variance, spread, rtol=1e-11)
    kept, _ = tf.nn.weighted_moments(X, [1], weights, keepdims=True)
    assert kept.shape == (3, 1)


def test_local_response_normalization():
    x = sample("float32", (1, 2, 2, 7), 1)
    expected = np.empty_like(x)
    for c in range(7):
        near = x[..., max(0, c - 2) : c + 3]
        expected[..., c] = x[..., c] / (1.5 + 0.3 * (near**2).sum(-1)) ** 0.75
    ours = tf.nn.local_response_normalization(x, 2, 1.5, 0.3, 0.75)
    assert_close(ours, expected, rtol=1e-5)


def test_embedding_lookup():
    table = sample("float32", (7, 3), 1)
    ids = np.array([[0, 6], [3, 3]])
    assert_close(tf.nn.embedding_lookup(table, ids), table[ids])
    parts = [table[0::3], table[1::3], table[2::3]]
    assert_close(tf.nn.embedding_lookup(parts, ids), table[ids])
    clipped = tf.nn.embedding_lookup(table, [1, 2], max_norm=1.0).numpy()
    norms = np.linalg.norm(table[1:3], axis=1, keepdims=True)
    np.testing.assert_allclose(clipped, table[1:3] / np.maximum(norms, 1), rtol=1e-5)


def test_dropouts():
    x = np.ones((50, 40), "float32")
    first = tf.nn.experimental.stateless_dropout(x, 0.25, seed=[1, 2]).numpy()
    again = tf.nn.experimental.stateless_dropout(x, 0.25, seed=[1, 2]).numpy()
    np.testing.assert_array_equal(first, again)
    assert set(np.unique(first)) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs((first == 0).mean() - 0.25) < 0.05
    rows = tf.nn.experimental.stateless_dropout(x, 0.5, seed=[1, 2], noise_shape=[50, 1]).numpy()
    assert (rows == rows[:, :1]).all()
    half = tf.nn.experimental.general_dropout(x, 0.5, lambda s, d: tf.fill(s, tf.cast(0.7, d)))
    assert (half.numpy() == 2).all()
    with pytest.raises(ValueError, match="rate"):
        tf.nn.experimental.general_dropout(x, 1.5, None)


def test_dropout_with_a_shape_of_numbers_and_tensors():
    """As layers write it that know their last size and not their batch."""

    @tf.function(input_signature=[tf.TensorSpec((None, 4, 3))])
    def channels(x):
        shape = (tf.shape(x)[0], 1, 3)
        return tf.nn.experimental.stateless_dropout(x, 0.5, seed=[1, 2], noise_shape=shape)

    dropped = channels(tf.ones((20, 4, 3))).numpy()
    assert (dropped == dropped[:, :1]).all() and set(dropped.ravel()) == {0.0, 2.0}
    assert channels.get_concrete_function().output_shapes.as_list() == [None, 4, 3]
