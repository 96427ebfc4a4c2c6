"""Batch normalisation as one op, against NumPy in float64, and as fast passes allow."""

import numpy as np
import pytest
from arrays import sample
from hypothesis import given, settings
from hypothesis import strategies as st

import tidemark as tf

fused = tf.compat.v1.nn.fused_batch_norm


def reference(x, scale, offset, epsilon=0.001):
    rows = x.reshape(-1, x.shape[-1]).astype("float64")
    mean, variance = rows.mean(0), rows.var(0)
    y = (x - mean) / np.sqrt(variance + epsilon) * scale + offset
    return y, mean, variance * len(rows) / max(len(rows) - 1, 1)


def reference_gradient(x, scale, dy, epsilon=0.001):
    c = x.shape[-1]
    rows, g = x.reshape(-1, c).astype("float64"), dy.reshape(-1, c).astype("float64")
    rstd = 1 / np.sqrt(rows.var(0) + epsilon)
    normal = (rows - rows.mean(0)) * rstd
    dx = scale * rstd * (g - g.mean(0) - normal * (g * normal).mean(0))
    return dx.reshape(x.shape), (g * normal).sum(0), g.sum(0)


LIMITS = {"float64": 1e-11, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}


def check(dtype, shape, seed=0):
    c = shape[-1]
    wide = "float64" if dtype == "float64" else "float32"
    x = tf.cast(tf.constant(sample("float64", shape, seed) + 5), dtype)
    scale, offset = sample(wide, (c,), 1), sample(wide, (c,), 2)
    weights = tf.cast(tf.constant(sample("float64", shape, 3)), dtype)
    with tf.GradientTape() as tape:
        given = [x, tf.constant(scale), tf.constant(offset)]
        tape.watch(given)
        y, mean, variance = fused(*given)
        loss = tf.reduce_sum(tf.cast(y * weights, "float64"))
    assert y.dtype is x.dtype and mean.dtype.name == variance.dtype.name == wide
    values = tf.cast(x, "float64").numpy()
    limits = {"rtol": LIMITS[dtype], "atol": 4 * LIMITS[dtype]}
    for got, expected in zip((y, mean, variance), reference(values, scale, offset), strict=True):
        np.testing.assert_allclose(tf.cast(got, "float64").numpy(), expected, **limits)
    dy = tf.cast(weights, "float64").numpy()
    expected = reference_gradient(values, scale, dy)
    rows = max(1, values.size // max(c, 1))
    for got, wanted in zip(tape.gradient(loss, given), expected, strict=True):
        got = tf.cast(got, "float64").numpy()
        np.testing.assert_allclose(
            got, wanted, rtol=limits["rtol"], atol=limits["atol"] * rows**0.5
        )


@pytest.mark.parametrize("dtype", LIMITS)
@pytest.mark.parametrize(
    "shape", [(2, 3, 3, 5), (1, 1, 1, 3), (4, 9, 9, 1), (70, 64), (3, 40, 40, 24), (2, 2, 2, 130)]
)
def test_training(dtype, shape):
    check(dtype, shape)


@given(st.integers(1, 90), st.integers(1, 70), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_training_on_any_shape(rows, channels, seed):
    check("float32", (rows, channels), seed)


def test_channels_first_and_averages():
    x = sample("float32", (2, 3, 4, 5))
    scale, offset = sample("float32", (3,), 1), sample("float32", (3,), 2)
    y, mean, variance = fused(x, scale, offset, data_format="NCHW")
    expected = reference(x.transpose(0, 2, 3, 1), scale, offset)
    np.testing.assert_allclose(y.numpy(), expected[0].transpose(0, 3, 1, 2), rtol=1e-4, atol=1e-5)
    running = [sample("float32", (3,), 4), sample("float32", (3,), 5) + 4]
    _, m, v = fused(x, scale, offset, *running, data_format="NCHW", exponential_avg_factor=0.25)
    np.testing.assert_allclose(m.numpy(), mean.numpy() * 0.25 + running[0] * 0.75, rtol=1e-5)
    np.testing.assert_allclose(v.numpy(), variance.numpy() * 0.25 + running[1] * 0.75, rtol=1e-5)


def test_inference():
    x = sample("float32", (2, 4, 5, 3))
    mean, variance = sample("float32", (3,), 1), sample("float32", (3,), 2) ** 2 + 1
    y, m, v = fused(x, [1.0, 2.0, 3.0], [0.5, 0.0, -1.0], mean, variance, is_training=False)
    expected = (x - mean) / np.sqrt(variance + 0.001) * [1.0, 2.0, 3.0] + [0.5, 0.0, -1.0]
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(m.numpy(), mean)
    np.testing.assert_array_equal(v.numpy(), variance)


def test_far_from_zero_and_constant():
    x = (1e4 + np.random.default_rng(0).normal(0, 1, (4096, 8))).astype("float32")
    y, _, variance = fused(x, np.ones(8, "f4"), np.zeros(8, "f4"))
    np.testing.assert_allclose(variance.numpy(), x.astype("f8").var(0, ddof=1), rtol=1e-4)
    assert abs(y.numpy().std(0) - 1).max() < 2e-3
    y, _, variance = fused(np.full((9, 2), 7.0, "f4"), [1.0, 1.0], [0.5, 0.5])
    np.testing.assert_array_equal(variance.numpy(), [0, 0])
    np.testing.assert_allclose(y.numpy(), np.full((9, 2), 0.5), atol=1e-5)


def test_statistics_have_gradients():
    x = tf.constant(sample("float64", (6, 2)))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        _, mean, variance = fused(x, tf.ones([2], tf.float64), tf.zeros([2], tf.float64))
        total = tf.reduce_sum(variance)
    np.testing.assert_allclose(tape.gradient(mean, x).numpy(), np.full((6, 2), 1 / 6))
    expected = 2 * (x.numpy() - x.numpy().mean(0)) / 5
    np.testing.assert_allclose(tape.gradient(total, x).numpy(), expected, atol=1e-12)


def test_numbers_that_are_none_stay_in_their_channel():
    x = sample("float32", (9, 3))
    x[4, 1] = np.nan
    y, mean, variance = fused(x, np.ones(3, "f4"), np.zeros(3, "f4"))
    for t in (y, mean, variance):
        bad = np.isnan(t.numpy()).reshape(-1, 3)
        assert bad[:, 1].all() and not bad[:, [0, 2]].any()


def test_nothing():
    y, mean, _ = fused(np.zeros((0, 3), "f4"), np.ones(3, "f4"), np.zeros(3, "f4"))
    assert y.shape == (0, 3) and mean.shape == (3,)
    assert fused(np.zeros((4, 0), "f4"), np.ones(0, "f4"), np.zeros(0, "f4"))[0].shape == (4, 0)


def test_bad_input():
    x, one = np.zeros((2, 3), "f4"), np.ones(3, "f4")
    with pytest.raises(tf.errors.InvalidArgumentError, match="scale"):
        fused(x, np.ones(4, "f4"), one)
    with pytest.raises(tf.errors.InvalidArgumentError, match="float32"):
        fused(x, one.astype("f8"), one.astype("f8"))
    with pytest.raises(ValueError, match="data_format"):
        fused(x, one, one, data_format="CHWN")
    with pytest.raises(ValueError, match="is_training"):
        fused(x, one, one, is_training=False)
    with pytest.raises(ValueError, match="neither"):
        fused(x, one, one, mean=one)
