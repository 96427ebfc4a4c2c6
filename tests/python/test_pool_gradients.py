"""Gradients of max_pool over relu in compiled functions: masked where they are small, in place."""

import os

import numpy as np
import pytest

import tidemark as tf

WINDOWS = {
    "apart": (2, 2, "VALID"),
    "apart, pixels left over": (3, 3, "VALID"),
    "apart, padded": (3, 3, "SAME"),
    "gaps between": (2, 3, "VALID"),
    "gaps between, padded": (2, 3, "SAME"),
    "overlapping": (3, 2, "VALID"),
    "overlapping, padded": (3, 1, "SAME"),
}


def images(dtype, shape=(2, 7, 8, 19), seed=0):
    """Ties, negative numbers, zeros of both signs and, where there are any, NaN and infinities."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-3, 4, shape).astype(np.float32)
    if dtype.is_floating:
        x[rng.random(shape) < 0.05] = np.nan
        x[rng.random(shape) < 0.05] = np.inf
        x[rng.random(shape) < 0.05] = -0.0
    return tf.cast(tf.constant(x), dtype)


def gradient_of(ksize, strides, padding):
    def gradient(x, weights):
        with tf.GradientTape() as tape:
            tape.watch(x)
            h = tf.nn.relu(x)
            p = tf.nn.max_pool2d(h, ksize, strides, padding)
            # Something between, so that the gradient that arrives is made in the function.
            loss = tf.reduce_sum(tf.reshape(p, [-1]) * tf.reshape(weights, [-1]))
        return tape.gradient(loss, x)

    return gradient


def bits(t):
    return np.asarray(tf.cast(t, tf.float64) if t.dtype.size < 4 else t).tobytes()


@pytest.mark.parametrize("windows", WINDOWS.values(), ids=WINDOWS.keys())
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_compiled_gradients_have_the_bits_of_eager_ones(dtype, windows):
    dtype = tf.as_dtype(dtype)
    x = images(dtype)
    shape = tf.nn.max_pool2d(x, *windows).shape
    weights = images(dtype, tuple(shape), seed=1)
    gradient = gradient_of(*windows)
    compiled = tf.function(gradient)
    for _ in range(3):
        assert bits(compiled(x, weights)) == bits(gradient(x, weights))


def reference(x, ksize, stride):
    """The gradient of ones, by the definition, without padding."""
    dx = np.zeros_like(x)
    rows, columns = ((n - ksize) // stride + 1 for n in x.shape[1:3])
    for b, i, j, c in np.ndindex(x.shape[0], rows, columns, x.shape[3]):
        window = x[b, i * stride : i * stride + ksize, j * stride : j * stride + ksize, c]
        at = np.unravel_index(window.argmax(), window.shape)
        dx[b, i * stride + at[0], j * stride + at[1], c] += 1
    return dx


@pytest.mark.parametrize("ksize, stride", [(2, 2), (3, 3), (2, 3), (3, 2), (1, 1), (1, 2)])
def test_each_window_gives_to_its_first_greatest(ksize, stride):
    x = np.random.default_rng(2).integers(-2, 3, (2, 8, 7, 5)).astype(np.float32)

    def gradient(t):
        with tf.GradientTape() as tape:
            tape.watch(t)
            loss = tf.reduce_sum(tf.nn.max_pool2d(t, ksize, stride, "VALID"))
        return tape.gradient(loss, t)

    wanted = reference(x, ksize, stride)
    np.testing.assert_array_equal(gradient(tf.constant(x)), wanted)
    np.testing.assert_array_equal(tf.function(gradient)(tf.constant(x)), wanted)


def block(ksize, stride):
    """Convolution, relu, pooling and back to the filter and the images."""

    @tf.function
    def step(x, w):
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            h = tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME"))
            loss = tf.reduce_sum(tf.square(tf.nn.max_pool2d(h, ksize, stride, "VALID")))
        return tape.gradient(loss, [x, w])

    return step


@pytest.mark.skipif(
    os.environ.get("TIDEMARK_FUSION") == "off", reason="relu then takes as much as the convolution"
)
def test_the_gradient_of_windows_apart_lies_where_the_images_were():
    x, w = tf.random.normal((8, 32, 32, 3)), tf.random.normal((3, 3, 3, 16))
    size = 8 * 32 * 32 * 16 * 4
    apart, overlapping = block(2, 2).plan(x, w), block(3, 2).plan(x, w)
    assert any(r.op == "max_pool_grad" and r.done for r in apart.reuses)
    assert not any(r.op == "max_pool_grad" for r in overlapping.reuses)
    # The images and less than as much again for all that is pooled; not two of them.
    assert apart.peak < 1.8 * size < overlapping.peak
    assert not any(s.op == "relu_grad" for s in apart.steps)


def test_what_is_in_place_is_what_it_was():
    x, w = tf.random.normal((4, 18, 17, 3)), tf.random.normal((3, 3, 3, 8))
    for ksize, stride in ((2, 2), (3, 3), (2, 3), (3, 2)):
        step = block(ksize, stride)
        for made, wanted in zip(step(x, w), step.python_function(x, w), strict=True):
            np.testing.assert_allclose(made, wanted, rtol=1e-4, atol=1e-4)


def test_a_mask_that_others_see_stays():
    """Where the gradient before the mask is asked for too, both are right."""

    def gradients(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            h = tf.nn.relu(x)
            loss = tf.reduce_sum(tf.square(tf.nn.max_pool2d(h, 2, 2, "VALID")))
        return tape.gradient(loss, [x, h])

    x = tf.random.normal((2, 6, 6, 4))
    for made, wanted in zip(tf.function(gradients)(x), gradients(x), strict=True):
        np.testing.assert_array_equal(made, wanted)


def test_labels_gradient_over_the_logits():
    """The gradient of the cross entropy is written where the logits lie, and is the same."""

    def step(x, w, labels):
        with tf.GradientTape() as tape:
            tape.watch(w)
            logits = tf.matmul(x, w)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        return loss, tape.gradient(loss, w)

    x, w = tf.random.normal((300, 64)), tf.random.normal((64, 1000))
    labels = tf.constant(np.random.default_rng(3).integers(0, 1000, 300))
    compiled = tf.function(step)
    plan = compiled.plan(x, w, labels)
    assert any(r.op == "sparse_softmax_cross_entropy_grad" and r.done for r in plan.reuses)
    for made, wanted in zip(compiled(x, w, labels), step(x, w, labels), strict=True):
        np.testing.assert_allclose(made, wanted, rtol=1e-5, atol=1e-6)
