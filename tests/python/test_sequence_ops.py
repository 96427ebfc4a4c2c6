"""Edit distances, monotone sequences, sets of sparse tensors."""

import numpy as np
import pytest

import tidemark as tf


def rows(texts):
    indices, values = [], []
    for at, text in texts.items():
        for i, letter in enumerate(text):
            indices.append([*at, i])
            values.append(letter)
    shape = [2, 2, max(map(len, texts.values()))]
    return tf.SparseTensor(indices, values, shape)


def test_edit_distance():
    a = rows({(0, 0): "kitten", (0, 1): "a", (1, 1): "abc"})
    b = rows({(0, 0): "sitting", (1, 0): "xy", (1, 1): "abc"})
    plain = tf.edit_distance(a, b, normalize=False)
    np.testing.assert_array_equal(plain, [[3, 1], [2, 0]])
    np.testing.assert_allclose(tf.edit_distance(a, b), [[3 / 7, np.inf], [1, 0]], rtol=1e-6)
    with pytest.raises(TypeError, match="SparseTensor"):
        tf.edit_distance([[1]], b)
    with pytest.raises(TypeError, match="one dtype"):
        tf.edit_distance(tf.sparse.from_dense([[1]]), tf.sparse.from_dense([[1.0]]))


def test_edit_distance_in_a_function():
    @tf.function
    def distance(a, b):
        return tf.edit_distance(tf.sparse.from_dense(a), tf.sparse.from_dense(b))

    got = distance(tf.constant([[1, 2, 3], [1, 0, 0]]), tf.constant([[1, 3, 0], [2, 2, 0]]))
    np.testing.assert_allclose(got, [0.5, 1.0])


def test_isotonic_regression():
    # What TensorFlow 2.21 gave.
    y, segments = tf.nn.isotonic_regression([[3.0, 1, 2, 4], [1, 2, 3, 0]])
    np.testing.assert_allclose(y, [[3, 7 / 3, 7 / 3, 7 / 3], [2, 2, 2, 0]], rtol=1e-6)
    np.testing.assert_array_equal(segments, [[0, 1, 1, 1], [0, 0, 0, 1]])
    y, segments = tf.nn.isotonic_regression([3.0, 1, 2, 4], decreasing=False)
    np.testing.assert_allclose(y, [2, 2, 2, 4])
    np.testing.assert_array_equal(segments, [0, 0, 1, 2])


@pytest.mark.parametrize("decreasing", [True, False])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_isotonic_regression_is_the_nearest(axis, decreasing):
    """Monotone; and its residuals sum to zero in each block, with none of them better split."""
    x = np.random.default_rng(3).normal(size=(6, 7)).astype(np.float64)
    y = tf.nn.isotonic_regression(x, decreasing, axis)[0].numpy()
    steps = np.diff(y, axis=axis)
    assert (steps <= 1e-12).all() if decreasing else (steps >= -1e-12).all()
    rest = np.moveaxis(x - y, axis, -1)
    partial = np.cumsum(rest, -1)
    np.testing.assert_allclose(partial[:, -1], 0, atol=1e-12)
    assert (partial <= 1e-12).all() if decreasing else (partial >= -1e-12).all()


def test_the_gradient_of_isotonic_regression():
    x = tf.constant([3.0, 1.0, 2.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.nn.isotonic_regression(x)[0] * [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(tape.gradient(y, x), [1, 3, 3, 3])


A = {(0, 0): "ab", (1, 0): "c"}
B = {(0, 0): "bd", (1, 1): "e"}


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (tf.sets.union, {(0, 0): "abd", (1, 0): "c", (1, 1): "e"}),
        (tf.sets.intersection, {(0, 0): "b"}),
        (tf.sets.difference, {(0, 0): "a", (1, 0): "c"}),
        (lambda a, b: tf.sets.difference(a, b, aminusb=False), {(0, 0): "d", (1, 1): "e"}),
    ],
)
def test_sets_of_sparse_tensors(function, expected):
    got, want = function(rows(A), rows(B)), rows(expected)
    np.testing.assert_array_equal(got.indices, want.indices)
    np.testing.assert_array_equal(got.values, want.values)
    np.testing.assert_array_equal(got.dense_shape, want.dense_shape)


def test_sets_of_dense_and_sparse_tensors():
    b = tf.sparse.from_dense([[4, 0], [3, 1]])
    got = tf.sets.union(tf.constant([[1, 2], [3, 3]]), b)
    np.testing.assert_array_equal(got.values, [1, 2, 4, 1, 3])
    with pytest.raises(TypeError, match="swap"):
        tf.sets.union(b, tf.constant([[1, 2], [3, 3]]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not go together"):
        tf.sets.union(tf.constant([[1, 2]]), b)
