"""Positions of extremes and running totals against NumPy."""

import numpy as np
import pytest
from arrays import FLOATS, INTEGERS, REAL, assert_close, sample

import tidemark as tf


@pytest.mark.parametrize("dtype", REAL)
def test_argmax_and_argmin(dtype):
    for shape in ((7,), (3, 4), (2, 3, 4), (5, 65)):
        a = sample(dtype, shape, 5)
        for axis in range(-len(shape), len(shape)):
            assert_close(tf.argmax(a, axis=axis), np.argmax(a, axis))
            assert_close(tf.argmin(a, axis=axis), np.argmin(a, axis))
    assert tf.argmax(sample(dtype, (3, 4))).shape == (4,)
    assert tf.argmax([1, 3, 2], output_type=tf.int32).dtype is tf.int32


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_cumulative(dtype, exclusive, reverse):
    for shape, axis in (((5,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 4), -2), ((0, 2), 0)):
        a = sample(dtype, shape, 6, low=1, high=3)
        for ours, numpy, start in ((tf.cumsum, np.cumsum, 0), (tf.math.cumprod, np.cumprod, 1)):
            b = np.flip(a, axis) if reverse else a
            total = numpy(b.astype(np.float64), axis=axis)
            if exclusive:
                total = np.roll(total, 1, axis)
                index = [slice(None)] * a.ndim
                index[axis] = slice(0, 1)
                total[tuple(index)] = start
            expected = (np.flip(total, axis) if reverse else total).astype(dtype)
            rtol = 5e-3 if dtype == "float16" else 1e-5 if dtype == "float32" else 1e-12
            got = ours(a, axis=axis, exclusive=exclusive, reverse=reverse)
            assert_close(got, expected, rtol=0 if dtype in INTEGERS else rtol)


def test_errors():
    for ask in (lambda: tf.argmax(tf.zeros([2]), axis=3), lambda: tf.cumsum([1, 2], axis=4)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            ask()
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty|Reduction axis"):
        tf.argmax(tf.zeros([0]))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_reductions(dtype):
    a = sample(dtype, (3, 4))
    for ours, numpy in (
        (tf.reduce_sum, np.sum),
        (tf.reduce_mean, np.mean),
        (tf.reduce_prod, np.prod),
    ):
        assert_close(ours(a, 1), numpy(a, 1), rtol=1e-5)


def test_categorical():
    logits = tf.math.log([[0.1, 0.6, 0.3], [0.98, 0.01, 0.01]])
    x = tf.random.categorical(logits, 20_000, seed=1)
    assert x.shape == (2, 20_000) and x.dtype is tf.int64
    share = np.bincount(x.numpy()[0], minlength=3) / 20_000
    assert abs(share - [0.1, 0.6, 0.3]).max() < 0.02
    a = tf.random.stateless_categorical(logits, 50, [1, 2], dtype=tf.int32)
    assert a.dtype is tf.int32
    np.testing.assert_array_equal(
        a.numpy(), tf.random.stateless_categorical(logits, 50, [1, 2]).numpy()
    )
