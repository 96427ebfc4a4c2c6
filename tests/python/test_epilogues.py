"""What follows a matmul or a convolution runs with it: one step, the same result."""

import os

import numpy as np
import pytest

import tidemark as tf
from tidemark import _tidemark

ACTIVATIONS = {
    "relu": tf.nn.relu,
    "gelu": tf.nn.gelu,
    "tanh": tf.tanh,
    "sigmoid": tf.sigmoid,
    "silu": tf.nn.silu,
    "elu": tf.nn.elu,
}
FUSES = os.environ.get("TIDEMARK_FUSION", "on") != "off"
TOLERANCE = {"float64": 1e-12, "float32": 2e-5, "bfloat16": 0.05, "float16": 0.01}


def values(seed, *shape, dtype="float32"):
    drawn = np.random.default_rng(seed).normal(size=shape) / 4
    return tf.cast(tf.constant(drawn), dtype)


def steps(function, *args):
    return [step.op for step in function.plan(*args).steps]


def check(f, *args, expected_steps=None):
    """The same eagerly and as a function; the function has these steps."""
    traced = tf.function(f, autograph=False)
    if expected_steps is not None and FUSES:
        assert steps(traced, *args) == expected_steps
    want = f(*args)
    for _ in range(2):
        got = traced(*args)
        for a, b in zip(tf.nest.flatten(got), tf.nest.flatten(want), strict=True):
            assert a.dtype == b.dtype
            tolerance = TOLERANCE[b.dtype.name]
            np.testing.assert_allclose(
                tf.cast(a, tf.float64).numpy(),
                tf.cast(b, tf.float64).numpy(),
                rtol=tolerance,
                atol=tolerance,
            )
    return traced


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_dense_is_one_step(dtype, name):
    x, w, b = (values(i, *s, dtype=dtype) for i, s in enumerate([(33, 40), (40, 130), (130,)]))
    check(
        lambda x, w, b: ACTIVATIONS[name](tf.matmul(x, w) + b),
        x, w, b,
        expected_steps=["matmul+fused"],
    )  # fmt: skip


@pytest.mark.parametrize("m, k, n", [
    (1, 1, 1), (1, 300, 7), (300, 7, 1), (5, 3, 4), (64, 64, 64), (130, 70, 33), (257, 64, 600),
    (1024, 16, 1030),
])  # fmt: skip
def test_dense_of_many_sizes(m, k, n):
    x, w, b, r = values(0, m, k), values(1, k, n), values(2, n), values(3, m, n)
    check(
        lambda x, w, b, r: tf.nn.relu(tf.matmul(x, w) + b) + r,
        x, w, b, r,
        expected_steps=["matmul+fused"],
    )  # fmt: skip


@pytest.mark.parametrize("shape", [(0, 4, 3), (4, 0, 3), (4, 3, 0)])
def test_nothing_to_multiply(shape):
    m, k, n = shape
    check(
        lambda x, w, b: tf.nn.relu(tf.matmul(x, w) + b),
        values(0, m, k), values(1, k, n), values(2, n),
    )  # fmt: skip


def test_not_a_number_goes_through():
    x = values(0, 64, 64).numpy()
    x[3, 5], x[7, 9] = np.nan, np.inf
    w, b = values(1, 64, 64), values(2, 64)
    f = tf.function(lambda x: tf.nn.relu(tf.matmul(x, w) + b), autograph=False)
    got, want = f(tf.constant(x)).numpy(), tf.nn.relu(tf.matmul(x, w) + b).numpy()
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    assert np.isnan(got).any()
    np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("batch", [(3,), (2, 3)])
def test_batches_and_broadcasting(batch):
    a, b = values(0, *batch, 9, 17), values(1, *batch, 17, 40)
    row, column, whole = values(2, 40), values(3, *batch, 9, 1), values(4, *batch, 1, 40)
    check(
        lambda *t: (tf.tanh(tf.matmul(t[0], t[1]) * t[3] + t[2]) - t[4]),
        a, b, row, column, whole,
        expected_steps=["matmul+fused"],
    )  # fmt: skip
    check(
        lambda a, w, row: tf.nn.gelu(tf.matmul(a, w) + row),
        a, values(5, 17, 40), row,
        expected_steps=["matmul+fused"],
    )  # fmt: skip


def test_reshaped_products():
    def f(x, w, b):
        rows = tf.matmul(tf.reshape(x, [-1, 20]), w)
        return tf.nn.relu(tf.reshape(rows, [4, 6, 2, 15]) + b)

    args = values(0, 4, 6, 20), values(1, 20, 30), values(2, 2, 15)
    traced = check(f, *args)
    if FUSES:
        assert "matmul+fused" in steps(traced, *args)


@pytest.mark.parametrize("columns", [5, 64, 300])
def test_rows_are_normalised_with_the_product(columns):
    def softmax(x, w, mask):
        scores = tf.matmul(x, w) * 0.3 + mask
        scores = scores - tf.reduce_max(scores, axis=-1, keepdims=True)
        e = tf.exp(scores)
        return e / tf.reduce_sum(e, axis=-1, keepdims=True)

    check(
        softmax, values(0, 70, 32), values(1, 32, columns), values(2, 70, columns),
        expected_steps=["matmul+fused"],
    )  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
@pytest.mark.parametrize("window, channels, stride", [(1, 8, 1), (3, 16, 1), (3, 5, 2), (1, 64, 1)])
def test_convolution_is_one_step(dtype, window, channels, stride):
    x = values(0, 3, 12, 10, 8, dtype=dtype)
    k = values(1, window, window, 8, channels, dtype=dtype)
    scale, shift = values(2, channels, dtype=dtype), values(3, channels, dtype=dtype)
    residual = values(4, 3, -(-12 // stride), -(-10 // stride), channels, dtype=dtype)
    check(
        lambda *t: tf.nn.relu(tf.nn.conv2d(t[0], t[1], stride, "SAME") * t[2] + t[3] + t[4]),
        x, k, scale, shift, residual,
        expected_steps=["convolution+fused"],
    )  # fmt: skip


def test_transposed_convolution():
    check(
        lambda y, k, b: tf.tanh(tf.nn.conv2d_transpose(y, k, (2, 12, 12, 6), 2, "SAME") + b),
        values(0, 2, 6, 6, 9), values(1, 3, 3, 6, 9), values(2, 6),
        expected_steps=["convolution_input_grad+fused"],
    )  # fmt: skip


def test_one_of_two_products_joins():
    x, a, b = values(0, 40, 30), values(1, 30, 50), values(2, 30, 50)
    check(
        lambda x, a, b: tf.nn.silu(tf.matmul(x, a)) * tf.matmul(x, b),
        x, a, b,
        expected_steps=["matmul", "matmul+fused"],
    )  # fmt: skip


def test_what_is_needed_elsewhere_is_stored():
    def f(x, w, b):
        z = tf.matmul(x, w)
        y = tf.nn.relu(z + b)
        return y, z, tf.matmul(y, y, transpose_a=True)

    x, w, b = values(0, 40, 30), values(1, 30, 50), values(2, 50)
    check(f, x, w, b, expected_steps=["matmul+fused", "matmul"])


def test_a_product_that_is_waited_for_elsewhere_stays():
    def f(x, w):
        z = tf.matmul(x, w)
        return z + tf.matmul(tf.sort(z), w)

    check(f, values(0, 30, 30), values(1, 30, 30))


@pytest.mark.parametrize("name", ["relu", "gelu", "tanh"])
def test_training(name):
    x, y = values(0, 32, 20), values(1, 32, 5)
    start = [values(2, 20, 64), values(3, 64), values(4, 64, 5)]

    def trained(traced):
        variables = [tf.Variable(v) for v in start]

        def step():
            with tf.GradientTape() as tape:
                hidden = ACTIVATIONS[name](tf.matmul(x, variables[0]) + variables[1])
                loss = tf.reduce_mean((tf.matmul(hidden, variables[2]) - y) ** 2)
            for v, d in zip(variables, tape.gradient(loss, variables), strict=True):
                v.assign_sub(0.1 * d)
            return loss

        step = tf.function(step, autograph=False) if traced else step
        losses = [step().numpy() for _ in range(5)]
        if traced and FUSES:
            assert "matmul+fused" in steps(step)
        return [*losses, *[v.numpy() for v in variables]]

    for a, b in zip(trained(True), trained(False), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_reads_before_updates():
    v = tf.Variable(values(0, 30, 30))

    @tf.function(autograph=False)
    def f(x):
        z = tf.matmul(x, v)
        v.assign(v * 2.0)
        return tf.nn.relu(z + v)

    x, before = values(1, 30, 30), v.numpy()
    got = f(x).numpy()
    np.testing.assert_allclose(got, np.maximum(x.numpy() @ before + 2 * before, 0), rtol=1e-4)


def test_results_do_not_depend_on_threads():
    def f(x, k, w, b):
        y = tf.nn.gelu(tf.nn.conv2d(x, k, 1, "SAME") + b)
        return tf.tanh(tf.matmul(tf.reshape(y, [-1, 48]), w) + b)

    args = values(0, 4, 30, 30, 16), values(1, 3, 3, 16, 48), values(2, 48, 48), values(3, 48)
    traced = tf.function(f, autograph=False)
    many = traced(*args).numpy()
    before = _tidemark.set_num_threads(1)
    try:
        one = traced(*args).numpy()
    finally:
        _tidemark.set_num_threads(before)
    np.testing.assert_array_equal(many, one)


def test_memory_stays_flat():
    w, b = values(0, 64, 64), values(1, 64)
    f = tf.function(lambda x: tf.nn.relu(tf.matmul(x, w) + b), autograph=False)
    x = values(2, 64, 64)
    f(x)
    before = _tidemark.stats()["tensor_bytes"]
    for _ in range(3000):
        f(x)
    assert _tidemark.stats()["tensor_bytes"] <= before
