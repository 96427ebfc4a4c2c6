"""Sizes, axes and diagonals given as lists or constants work in functions that are traced."""

import numpy as np
import pytest

import tidemark as tf

X = tf.constant(np.arange(24.0).reshape(4, 6))
PICTURE = tf.constant(np.arange(48.0, dtype="f4").reshape(1, 4, 4, 3))
COUNTS = tf.constant([1, 0, 3])


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (lambda x: tf.split(x, 3, 1), X),
        (lambda x: tf.split(x, [2, -1], 1), X),
        (lambda x: tf.split(x, tf.constant([2, 4]), 1), X),
        (lambda x: tf.image.resize(x, [8, 2]), PICTURE),
        (lambda x: tf.image.resize(x, tf.constant([8, 2])), PICTURE),
        (lambda x: tf.image.crop_and_resize(x, [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2]), PICTURE),
        (lambda x: tf.eye(4, 6, batch_shape=[2], dtype=tf.float64) + x, X),
        (lambda x: tf.sequence_mask(x), COUNTS),
        (lambda x: tf.sequence_mask(x, 2), COUNTS),
        (lambda x: tf.sequence_mask(x, tf.reduce_max(x) + 1, tf.float32), COUNTS),
        (lambda x: tf.unravel_index(x, [2, 3]), COUNTS),
        (lambda x: tf.dynamic_partition(x, [0, 1, 0], 2), COUNTS),
        (lambda x: tf.dynamic_partition(X[:3], x, 4), COUNTS),
        (lambda x: tf.space_to_batch(x, [2, 2], [[0, 0], [2, 0]]), PICTURE),
        (lambda x: tf.linalg.diag(x, k=(-1, 2)), X),
        (lambda x: tf.linalg.diag_part(x, k=tf.constant([0, 2])), X),
        (lambda x: tf.signal.rfftnd(x, [4, 4], [0, 1]), X),
        (lambda x: tf.signal.rfft2d(x, [4, 4]), X),
        (lambda x: tf.nn.collapse_repeated(x, [4]), tf.constant([[1, 1, 2, 2]])),
        (lambda x: tf.histogram_fixed_width_bins(x, [0.0, 20.0], 7), X),
    ],
)
def test_traced_as_eager(function, argument):
    traced = tf.nest.flatten(tf.function(function)(argument))
    eager = tf.nest.flatten(function(argument))
    assert len(traced) == len(eager)
    for a, b in zip(traced, eager, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_what_is_not_known_waits_for_the_run_or_is_named():
    sizes = tf.constant([2, 2])
    resized = tf.function(lambda n: tf.image.resize(PICTURE, n))(sizes)
    np.testing.assert_array_equal(resized, tf.image.resize(PICTURE, sizes))
    with pytest.raises(ValueError, match="must be known while the function is traced"):
        tf.function(lambda n: tf.split(X, n))(tf.constant(2))


def test_tensors_without_a_value_can_be_shown():
    shown = []

    @tf.function
    def trace(x):
        shown.extend([repr(x), str(x), f"{x}"])
        return x

    trace(X)
    for text in shown:
        assert "Tensor" in text and "(4, 6)" in text and "float64" in text


def test_numbers_of_the_graph_serve_as_arguments_that_must_be_known():
    @tf.function
    def along(x):
        turned = tf.reverse(x, tf.range(2))
        return turned, tf.argmax(x, axis=tf.constant(1)), tf.reduce_sum(x, axis=tf.range(1, 2))

    turned, places, sums = along(tf.constant([[1.0, 3.0, 2.0], [6.0, 5.0, 4.0]]))
    assert turned.numpy().tolist() == [[4, 5, 6], [2, 3, 1]]
    assert places.numpy().tolist() == [1, 0] and sums.numpy().tolist() == [6, 15]


def test_tensors_of_a_graph_have_no_numpy():
    seen = []

    @tf.function
    def look(x):
        seen.append(hasattr(x, "numpy"))
        return x

    assert hasattr(look(tf.constant(1.0)), "numpy") and seen == [False]
