"""Arrays to test with: every dtype, with the values that make trouble."""

import numpy as np

import tidemark as tf

FLOATS = ("float16", "float32", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
COMPLEX = ("complex64", "complex128")
REAL = FLOATS + INTEGERS
NUMERIC = REAL + COMPLEX
PLAIN = (*NUMERIC, "bool")

SHAPES = ((), (1,), (7,), (0,), (3, 4), (2, 0, 3), (2, 3, 4), (1, 1, 5), (65,), (9, 33))


def sample(dtype, shape, seed=0, low=None, high=None):
    """Values of a dtype, small enough that sums and products of two stay in range."""
    rng = np.random.default_rng([seed, len(shape), sum(shape)])
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if kind in "iu":
        low = (0 if kind == "u" else -9) if low is None else low
        return rng.integers(low, 10 if high is None else high, shape).astype(dtype)
    low, high = -3.0 if low is None else low, 3.0 if high is None else high
    values = rng.uniform(low, high, shape)
    if kind == "c":
        values = values + 1j * rng.uniform(low, high, shape)
    return np.asarray(values).astype(dtype)


def tolerance(dtype):
    """Relative tolerance for a result computed by another library."""
    name = np.dtype(dtype).name
    if name in ("float16",):
        return 2e-3
    if name in ("float32", "complex64"):
        return 2e-6
    return 1e-13 if np.dtype(dtype).kind in "fc" else 0


def assert_close(ours, expected, rtol=None, atol=None, check_dtype=True):
    """A tensor equals an array in shape, dtype and, NaN included, values."""
    assert isinstance(ours, tf.Tensor), type(ours)
    expected = np.asarray(expected)
    got = np.asarray(ours.numpy())
    assert got.shape == expected.shape, f"shape {got.shape}, expected {expected.shape}"
    if check_dtype:
        assert got.dtype == expected.dtype, f"dtype {got.dtype}, expected {expected.dtype}"
    limit = tolerance(got.dtype) if rtol is None else rtol
    if limit == 0:
        np.testing.assert_array_equal(got, expected)
    else:
        np.testing.assert_allclose(got, expected, rtol=limit, atol=limit if atol is None else atol)
