"""softmax, layer_norm and the like run as one step with what stands beside them."""

import numpy as np
import pytest
from test_epilogues import TOLERANCE, check, steps, values

import tidemark as tf

SHAPES = [(1, 1), (3, 1), (7,), (5, 17), (2, 3, 64), (4, 1000)]
DTYPES = ["float32", "float16", "bfloat16"]
NEIGHBOURS = {
    "softmax": tf.nn.softmax,
    "log_softmax": tf.nn.log_softmax,
    "layer_norm": lambda x: tf.nn.experimental.layer_norm(x, *scale_and_offset(x)),
    "rms_norm": lambda x: tf.nn.experimental.rms_norm(x, scale_and_offset(x)[0]),
}


def scale_and_offset(x):
    width = x.shape[-1]
    return values(1, width, dtype=x.dtype) + 1, values(2, width, dtype=x.dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NEIGHBOURS)
def test_between_elementwise_ops(name, dtype):
    op = NEIGHBOURS[name]
    for seed, shape in enumerate(SHAPES):
        x = values(seed, *shape, dtype=dtype)
        check(lambda x, op=op: op(tf.nn.relu(x) * 2) * x, x)


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_is_one_step(name):
    op = NEIGHBOURS[name]
    x = values(0, 6, 40)
    scale, offset = scale_and_offset(x)

    def f(x, scale, offset):
        if name == "layer_norm":
            y = tf.nn.experimental.layer_norm(x - 1, scale, offset)
        elif name == "rms_norm":
            y = tf.nn.experimental.rms_norm(x - 1, scale)
        else:
            y = op(x - 1)
        return tf.reduce_sum(y * scale, axis=-1)

    check(f, x, scale, offset, expected_steps=["fused"])


def test_follows_a_product():
    x, w, b = values(0, 9, 24), values(1, 24, 33), values(2, 33)
    check(
        lambda x, w, b: tf.nn.softmax(tf.matmul(x, w) + b),
        x,
        w,
        b,
        expected_steps=["matmul+fused"],
    )
    q, k = values(3, 2, 3, 10, 8), values(4, 2, 3, 12, 8)
    check(
        lambda q, k: tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * 0.3),
        q,
        k,
        expected_steps=["matmul+fused"],
    )


def test_alone_keeps_its_kernel():
    x = values(0, 6, 40)
    for op in (tf.nn.softmax, tf.nn.log_softmax):
        assert steps(tf.function(op, autograph=False), x) == [op.__name__]


@pytest.mark.parametrize("axis", [0, 1])
def test_other_axes_and_wide_elements_keep_it_too(axis):
    x = values(0, 6, 5, 4)
    traced = check(lambda x: tf.nn.softmax(x * 2, axis=axis) + 1, x)
    assert "softmax" in steps(traced, x)
    check(lambda x: tf.nn.softmax(x * 2, axis=2) + 1, tf.cast(x, tf.float64))


@pytest.mark.parametrize("name", NEIGHBOURS)
@pytest.mark.parametrize("shape", [(5, 17), (2, 3, 8)])
def test_gradients(name, shape):
    op = NEIGHBOURS[name]

    def slope(x, weight):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.square(op(tf.tanh(x) * 2)) * weight)
        return y, tape.gradient(y, x)

    check(slope, values(0, *shape), values(5, *shape))


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_rows_that_are_not_finite(name):
    op = NEIGHBOURS[name]
    rows = np.zeros((6, 5), np.float32)
    rows[0, 2], rows[1, 1], rows[2, 3] = np.nan, np.inf, -np.inf
    rows[3], rows[4], rows[5] = -np.inf, np.inf, 3e38
    x = tf.constant(rows)
    with np.errstate(all="ignore"):
        want = op(x * 1.5).numpy() + 1
    got = tf.function(lambda x: op(x * 1.5) + 1, autograph=False)(x).numpy()
    np.testing.assert_allclose(got, want, rtol=TOLERANCE["float32"])


def test_empty_rows():
    for shape in [(0, 4), (3, 0)]:
        x = tf.zeros(shape)
        assert tf.function(lambda x: tf.nn.softmax(x * 2) + 1, autograph=False)(x).shape == shape
