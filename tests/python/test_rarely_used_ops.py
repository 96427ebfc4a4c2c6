"""Ops that few other tests run, each against NumPy."""

import numpy as np
import pytest

import tidemark as tf


@pytest.mark.parametrize(
    ("name", "reduce"),
    [("max", np.max), ("min", np.min), ("mean", np.mean), ("prod", np.prod)],
)
def test_sorted_segments(name, reduce):
    data = np.array([[1.0, -2.0], [3.0, 4.0], [5.0, 0.5], [2.0, 2.0]], np.float32)
    ids = np.array([0, 0, 1, 3])
    expected = np.zeros((4, 2), np.float32) + (name == "prod")
    for i in (0, 1, 3):
        expected[i] = reduce(data[ids == i], axis=0)
    np.testing.assert_allclose(getattr(tf.math, f"segment_{name}")(data, ids), expected)


def test_scattered_into():
    base, places, updates = [4.0, 5.0, 6.0], [[0], [2]], [5.0, 2.0]
    np.testing.assert_allclose(tf.tensor_scatter_nd_max(base, places, updates), [5, 5, 6])
    np.testing.assert_allclose(tf.tensor_scatter_nd_min(base, places, updates), [4, 5, 2])
    np.testing.assert_allclose(tf.tensor_scatter_nd_sub(base, places, updates), [-1, 5, 4])


def test_products_and_quotients_that_forgive():
    x = np.array([0.0, 2.0, 3.0], np.float32)
    np.testing.assert_allclose(
        tf.math.multiply_no_nan([np.inf, 2.0, np.nan], [0.0, 3.0, 0.0]), [0, 6, 0]
    )
    np.testing.assert_allclose(tf.math.xdivy(x, [0.0, 4.0, 2.0]), [0, 0.5, 1.5])
    np.testing.assert_allclose(
        tf.math.xlog1py(x, [-1.0, 4.0, 2.0]), [0, 2 * np.log1p(4), 3 * np.log1p(2)], rtol=1e-6
    )
    np.testing.assert_array_equal(tf.truncatemod([-7, 7, -7], [3, -3, -3]), [-1, 1, -1])


def test_a_scaled_bessel_function():
    # exp(-x) * I1(x), from tables
    values = tf.math.bessel_i1e(tf.constant([0.0, 1.0, 2.0], tf.float64))
    np.testing.assert_allclose(values, [0.0, 0.2079104153497085, 0.2152692892489377], rtol=1e-12)
