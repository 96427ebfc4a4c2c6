"""Second derivatives of what is one op here and several in TensorFlow, and where there are none."""

import numpy as np
import pytest

import tidemark as tf
from tidemark import _tidemark


def second(function, *values):
    """The gradient of a sum of sines of the first gradients."""
    xs = [tf.constant(v) for v in values]
    with tf.GradientTape() as outer:
        outer.watch(xs)
        with tf.GradientTape() as inner:
            inner.watch(xs)
            y = tf.reduce_sum(function(*xs) ** 2)
        first = inner.gradient(y, xs)
        total = tf.add_n([tf.reduce_sum(tf.sin(g)) for g in first])
    return outer.gradient(total, xs)


def compare(one_op, several, *values):
    for a, b in zip(second(one_op, *values), second(several, *values), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-4)


def draw(*shape):
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


def test_batch_norm():
    def several(x, scale, offset):
        mean, variance = tf.nn.moments(x, [0, 1, 2])
        return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)

    def fused(x, scale, offset):
        return tf.compat.v1.nn.fused_batch_norm(x, scale, offset, epsilon=1e-3)[0]

    compare(fused, several, draw(3, 4, 4, 2), draw(2), draw(2))


@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal):
    def one(q, k, v):
        attrs = {"scale": 0.5, "causal": causal}
        return _tidemark.call("attention", (q, k, v, tf.constant(True)), attrs)[0]

    def several(q, k, v):
        scores = 0.5 * tf.matmul(q, k, transpose_b=True)
        if causal:
            seen = tf.linalg.band_part(tf.ones_like(scores), -1, 0) > 0
            scores = tf.where(seen, scores, -1e9)
        return tf.matmul(tf.nn.softmax(scores), v)

    compare(one, several, draw(2, 5, 3), draw(2, 5, 3), draw(2, 5, 4))


def test_of_one_argument_alone():
    """With respect to x igamma can be differentiated again, to a it cannot."""
    a, x = tf.constant([1.5, 2.0], tf.float64), tf.constant([1.0, 2.5], tf.float64)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.math.igamma(a, x)
        first = inner.gradient(y, x)
    density = x ** (a - 1) * tf.exp(-x) / tf.exp(tf.math.lgamma(a))
    np.testing.assert_allclose(first, density, rtol=1e-12)
    np.testing.assert_allclose(outer.gradient(first, x), density * ((a - 1) / x - 1), rtol=1e-10)


LOGITS = draw(5, 2, 4)
WITHOUT = {
    "igamma": (lambda a: tf.math.igamma(a, [1.0, 2.0]), np.array([1.5, 2.0], np.float32)),
    "igammac": (lambda a: tf.math.igammac(a, [1.0, 2.0]), np.array([1.5, 2.0], np.float32)),
    "gamma": (
        lambda a: tf.random.stateless_gamma([3], [1, 2], a),
        np.array([1.5], np.float32),
    ),
    "ctc_loss": (
        lambda x: tf.compat.v1.nn.ctc_loss(
            tf.sparse.from_dense([[1, 2], [2, 1]]), x, tf.constant([5, 5])
        ),
        LOGITS,
    ),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_there_is_none(name):
    """TensorFlow looks gradients up in a registry, and raises a LookupError."""
    function, value = WITHOUT[name]
    with pytest.raises(LookupError, match="gradient registry has no entry"):
        second(function, value)
    with pytest.raises(tf.errors.UnimplementedError, match="Differentiate once only"):
        second(function, value)
