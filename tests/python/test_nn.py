"""tf.nn: activations, normalisation and losses against their formulas in NumPy."""

import numpy as np
import pytest
from arrays import assert_close, sample

import tidemark as tf

X = sample("float64", (3, 5), 1)


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def test_activations():
    from math import erf

    assert_close(tf.nn.leaky_relu(X), np.where(X > 0, X, 0.2 * X))
    assert_close(tf.nn.leaky_relu(X, alpha=0.1), np.where(X > 0, X, 0.1 * X))
    exact = X * 0.5 * (1 + np.vectorize(erf)(X / 2**0.5))
    assert_close(tf.nn.gelu(X), exact, rtol=1e-11)
    approximate = 0.5 * X * (1 + np.tanh((2 / np.pi) ** 0.5 * (X + 0.044715 * X**3)))
    assert_close(tf.nn.gelu(X, approximate=True), approximate, rtol=1e-11)
    assert_close(tf.nn.silu(X), X / (1 + np.exp(-X)), rtol=1e-11)
    assert_close(tf.nn.swish(X, beta=2.0), X / (1 + np.exp(-2 * X)), rtol=1e-11)
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    assert_close(tf.nn.selu(X), scale * np.where(X > 0, X, alpha * np.expm1(X)), rtol=1e-11)
    assert_close(tf.nn.crelu(X), np.concatenate([np.maximum(X, 0), np.maximum(-X, 0)], -1))


@pytest.mark.parametrize("axis", [-1, 0, 1, None])
def test_softmax(axis):
    expected = softmax(X, -1 if axis is None else axis)
    assert_close(tf.nn.softmax(X, axis), expected)
    assert_close(tf.math.log_softmax(X, axis), np.log(expected), rtol=1e-11)


def test_softmax_of_extremes():
    assert tf.nn.softmax([1000.0, 1000.0]).numpy().tolist() == [0.5, 0.5]
    assert tf.nn.log_softmax([1000.0, 0.0]).numpy().tolist() == [0, -1000]
    assert tf.nn.softmax([-np.inf, 0.0]).numpy().tolist() == [0, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be in the range"):
        tf.nn.softmax([1.0, 2.0], axis=3)


def test_moments_and_normalisation():
    mean, variance = tf.nn.moments(X, [0])
    assert_close(mean, X.mean(0))
    assert_close(variance, X.var(0), rtol=1e-11)
    kept, _ = tf.nn.moments(X, [1], keepdims=True)
    assert kept.shape == (3, 1)
    normal = tf.nn.batch_normalization(X, X.mean(0), X.var(0), 1.0, 2.0, 1e-3)
    expected = (X - X.mean(0)) / np.sqrt(X.var(0) + 1e-3) * 2 + 1
    assert_close(normal, expected, rtol=1e-11)
    assert_close(tf.nn.l2_loss(X), np.float64((X * X).sum() / 2), rtol=1e-11)


def test_bias_add():
    b = np.arange(5.0)
    assert_close(tf.nn.bias_add(X, b), X + b)
    images = sample("float32", (2, 3, 4, 4))
    channels = np.float32([1, 2, 3])
    added = tf.nn.bias_add(images, channels, data_format="NCHW")
    assert_close(added, images + channels[:, None, None])
    with pytest.raises(tf.errors.InvalidArgumentError, match="as many biases"):
        tf.nn.bias_add(X, [1.0])


def test_cross_entropies():
    labels = np.array([0, 4, 2])
    logp = np.log(softmax(X))
    expected = -logp[np.arange(3), labels]
    assert_close(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, X), expected, rtol=1e-11)
    onehot = np.eye(5)[labels]
    assert_close(tf.nn.softmax_cross_entropy_with_logits(onehot, X), expected, rtol=1e-11)
    p = 1 / (1 + np.exp(-X))
    both = -(onehot * np.log(p) + (1 - onehot) * np.log(1 - p))
    assert_close(tf.nn.sigmoid_cross_entropy_with_logits(onehot, X), both, rtol=1e-10)
    with pytest.raises(ValueError, match="must have the same shape"):
        tf.nn.sigmoid_cross_entropy_with_logits([1.0], [1.0, 2.0])
    with pytest.raises(ValueError):
        tf.nn.sparse_softmax_cross_entropy_with_logits([1, 2], X)
