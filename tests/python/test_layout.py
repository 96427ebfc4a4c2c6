"""Casts, transposes and the way images lie are chosen for the whole function, not step by step."""

import os

import numpy as np
import pytest

import tidemark as tf


def values(seed, *shape):
    return tf.constant((np.random.default_rng(seed).normal(size=shape) / 4).astype(np.float32))


def check(f, *args, **expected):
    traced = tf.function(f, autograph=False)
    ops = [step.op for step in traced.plan(*args).steps]
    # As little memory as possible is had by doing steps again, or in pieces: results agree all the
    # same, how many steps there are is another matter.
    for op, count in expected.items() if "TIDEMARK_PLAN_BUDGET" not in os.environ else ():
        assert sum(name == op for name in ops) == count, ops
    for a, b in zip(tf.nest.flatten(traced(*args)), tf.nest.flatten(f(*args)), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=2e-5, atol=2e-5)


def block(x, filters, scale):
    y = tf.nn.conv2d(x, filters, 1, "SAME", data_format="NCHW")
    mean, variance = tf.nn.moments(y, [0, 2, 3], keepdims=True)
    y = tf.reshape(scale, [1, -1, 1, 1]) * (y - mean) * tf.math.rsqrt(variance + 0.1)
    return x + tf.nn.relu(y)


def test_channels_first_stays_between_convolutions():
    def f(x, k, s):
        for _ in range(4):
            x = block(x, k, s)
        return x

    check(f, values(0, 2, 6, 9, 9), values(1, 3, 3, 6, 6), values(2, 6), transpose=2)


def test_gradients_with_channels_first():
    def f(x, k, s):
        with tf.GradientTape() as tape:
            tape.watch([k, s])
            y = x
            for _ in range(3):
                y = block(y, k, s)
            loss = tf.reduce_mean(y * y)
        return [loss, *tape.gradient(loss, [k, s])]

    check(f, values(0, 2, 6, 9, 9), values(1, 3, 3, 6, 6), values(2, 6), transpose=1)


@pytest.mark.parametrize("window", [2, 3])
def test_pooling_and_padding_in_between(window):
    def f(x, k):
        y = tf.nn.relu(tf.nn.conv2d(x, k, 1, "SAME", data_format="NCHW"))
        y = tf.nn.max_pool2d(y, window, 2, "SAME", data_format="NCHW")
        return tf.nn.conv2d(y, k, 1, "SAME", data_format="NCHW")

    check(f, values(0, 2, 6, 9, 9), values(1, 3, 3, 6, 6), transpose=2)


def test_products_read_their_operands_as_they_lie():
    def f(a, b, c):
        left = tf.transpose(a) @ tf.transpose(b)
        right = tf.matmul(tf.transpose(c, [0, 2, 1]), c)
        return left, right, tf.transpose(a @ tf.transpose(a)), tf.transpose(c, [0, 2, 1]) @ b

    # A batch times one matrix is one product only while its rows lie side by side.
    check(f, values(0, 5, 7), values(1, 9, 5), values(2, 3, 9, 6), transpose=1)


def test_casts_that_lose_nothing():
    def f(x):
        half = tf.cast(x, tf.float16)
        back = tf.cast(tf.cast(half, tf.float32), tf.float16)
        whole = tf.cast(x * 100.0, tf.int32)
        return back, tf.cast(tf.cast(whole, tf.int64), tf.float32), tf.cast(half, tf.float32)

    check(f, values(0, 50))


def test_a_variable_read_before_it_changes():
    v = tf.Variable(values(0, 4, 6))

    @tf.function(autograph=False)
    def f(x):
        turned = tf.transpose(v)
        v.assign(v * 0.0)
        return x @ tf.tanh(turned), x @ turned, v + 0.0

    x, before = values(1, 3, 6), v.numpy()
    first, second, after = f(x)
    np.testing.assert_allclose(first, x.numpy() @ np.tanh(before).T, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(second, x.numpy() @ before.T, rtol=1e-4, atol=1e-6)
    assert not after.numpy().any()
