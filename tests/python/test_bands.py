"""Bands of diagonals, and systems that have few of them."""

import numpy as np
import pytest
from arrays import assert_close, sample
from hypothesis import given, settings
from hypothesis import strategies as st

import tidemark as tf

Invalid = tf.errors.InvalidArgumentError
ALIGNS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")
TYPES = ("float32", "float64", "complex64", "complex128")
LOOSE = {"float32": 2e-4, "complex64": 2e-4, "float64": 1e-10, "complex128": 1e-10}


def packed(a, low, high, align, padding):
    """The diagonals of one matrix as rows, by what the documentation says."""
    rows, columns = a.shape
    width = min(rows + min(high, 0), columns - max(low, 0))
    out = np.full((high - low + 1, width), padding, a.dtype)
    for d in range(low, high + 1):
        values = np.diagonal(a, d)
        side = align.split("_")[0 if d >= 0 else 1]
        if d == 0:
            side = "LEFT" if "LEFT" in align else "RIGHT"
        begin = 0 if side == "LEFT" else width - len(values)
        out[high - d, begin : begin + len(values)] = values
    return out


@given(
    st.integers(1, 6), st.integers(1, 6), st.integers(-5, 5), st.integers(0, 4),
    st.sampled_from(ALIGNS), st.sampled_from(["float32", "int8", "complex128", "bool"]),
)  # fmt: skip
@settings(max_examples=100, deadline=None)
def test_bands_out_and_in(rows, columns, low, more, align, dtype):
    low = max(low, 1 - rows)
    low, high = min(low, columns - 1), min(low + more, columns - 1)
    a = sample(dtype, (2, rows, columns), rows + columns)
    got = tf.linalg.diag_part(a, k=(low, high), padding_value=1, align=align)
    expected = np.stack([packed(m, low, high, align, 1) for m in a])
    if low == high:
        expected = expected[:, 0]
    assert_close(got, expected)
    other = sample(dtype, (2, rows, columns), 99)
    put = tf.linalg.set_diag(other, got, k=(low, high), align=align).numpy()
    i, j = np.indices((rows, columns))
    inside = (j - i >= low) & (j - i <= high)
    np.testing.assert_array_equal(put, np.where(inside, a, other))
    made = tf.linalg.diag(got, k=(low, high), num_rows=rows, num_cols=columns, align=align)
    np.testing.assert_array_equal(made.numpy(), np.where(inside, a, np.zeros(1, a.dtype)))


def test_matrices_as_large_as_needed():
    d = np.array([[1, 2, 3], [4, 5, 6]])
    assert_close(
        tf.linalg.diag(d, k=(-1, 0), align="RIGHT_LEFT", padding_value=9),
        [[1, 9, 9], [4, 2, 9], [9, 5, 3]],
    )
    assert tf.linalg.diag([1, 2], k=-1, num_rows=3, num_cols=4).shape == (3, 4)
    assert tf.linalg.diag([1, 2], k=1).shape == (3, 3)
    for ask in (
        lambda: tf.linalg.diag([1, 2], k=1, num_rows=1),
        lambda: tf.linalg.diag([1, 2], k=0, num_rows=3, num_cols=3),
        lambda: tf.linalg.diag([1, 2], k=(0, 1)),
        lambda: tf.linalg.diag(d, k=(0, 2)),
        lambda: tf.linalg.diag_part(d, k=(1, 0)),
        lambda: tf.linalg.diag_part(d, k=(0, 3)),
        lambda: tf.linalg.diag_part(d, k=(0, 1), align="CENTRE"),
        lambda: tf.linalg.diag_part([1, 2], k=(0, 1)),
        lambda: tf.linalg.set_diag(d, d, k=(0, 1)),
        lambda: tf.linalg.diag_part(d, k=(0, 1, 2)),
    ):
        with pytest.raises(Invalid):
            ask()


def tridiagonal(dtype, shape, seed=0):
    """Compact diagonals of regular matrices, and the matrices."""
    compact = sample(dtype, (*shape[:-1], 3, shape[-1]), seed)
    compact[..., 1, :] += 9
    n = shape[-1]
    full = np.zeros((*shape, n), dtype)
    for i in range(n):
        full[..., i, i] = compact[..., 1, i]
        if i + 1 < n:
            full[..., i, i + 1] = compact[..., 0, i]
            full[..., i + 1, i] = compact[..., 2, i + 1]
    return compact, full


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(1,), (2,), (7,), (3, 5), (2, 0, 4), (0,), (2, 0)])
def test_tridiagonal(dtype, shape):
    compact, full = tridiagonal(dtype, shape)
    rhs = sample(dtype, (*shape, 2), 1)
    limits = {"rtol": LOOSE[dtype], "atol": LOOSE[dtype]}
    expected = np.linalg.solve(full, rhs)
    for pivoting in (True, False):
        got = tf.linalg.tridiagonal_solve(compact, rhs, partial_pivoting=pivoting)
        assert_close(got, expected, **limits)
    assert_close(tf.linalg.tridiagonal_solve(compact, rhs[..., 0]), expected[..., 0], **limits)
    assert_close(tf.linalg.tridiagonal_matmul(compact, rhs), full @ rhs, **limits)
    turned = np.swapaxes(rhs, -1, -2).conj()
    got = tf.linalg.tridiagonal_solve(compact, turned, transpose_rhs=True, conjugate_rhs=True)
    assert_close(got, expected, **limits)
    if shape[-1] == 0:
        return
    got = tf.linalg.tridiagonal_solve(full, rhs, diagonals_format="matrix")
    assert_close(got, expected, **limits)
    parts = compact[..., 0, :-1], compact[..., 1, :], compact[..., 2, 1:]
    got = tf.linalg.tridiagonal_solve(parts, rhs, diagonals_format="sequence")
    assert_close(got, expected, **limits)
    parts = compact[..., 0, :], compact[..., 1, :], compact[..., 2, :]
    got = tf.linalg.tridiagonal_matmul(parts, rhs, diagonals_format="sequence")
    assert_close(got, full @ rhs, **limits)


def test_pivots():
    compact = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0], [0.0, 4.0, 5.0]])
    full = np.array([[0.0, 1.0, 0.0], [4.0, 0.0, 2.0], [0.0, 5.0, 3.0]])
    rhs = np.array([1.0, 2.0, 3.0])
    assert_close(tf.linalg.tridiagonal_solve(compact, rhs), np.linalg.solve(full, rhs))
    with pytest.raises(Invalid, match="not invertible"):
        tf.linalg.tridiagonal_solve(compact, rhs, partial_pivoting=False)
    with pytest.raises(Invalid, match="not invertible"):
        tf.linalg.tridiagonal_solve(np.zeros((3, 2)), np.ones(2))


def test_bad_systems():
    compact, _ = tridiagonal("float64", (4,))
    for ask, error in (
        (lambda: tf.linalg.tridiagonal_solve(compact[:2], np.ones(4)), Invalid),
        (lambda: tf.linalg.tridiagonal_solve(compact, np.ones(3)), Invalid),
        (lambda: tf.linalg.tridiagonal_solve(compact, np.ones(4), "dense"), ValueError),
        (lambda: tf.linalg.tridiagonal_solve(compact, np.ones(4), "sequence")[0], ValueError),
        (lambda: tf.linalg.tridiagonal_solve(compact, np.ones(4), "matrix"), ValueError),
        (lambda: tf.linalg.tridiagonal_solve(compact, np.ones(4), perturb_singular=True),
         ValueError),
        (lambda: tf.linalg.tridiagonal_matmul(compact, np.ones((3, 1))), Invalid),
        (lambda: tf.linalg.banded_triangular_solve(compact[:, :2], np.ones((2, 1))),
         Invalid),
        (lambda: tf.linalg.banded_triangular_solve(compact[0], np.ones((2, 1))),
         Invalid),
    ):  # fmt: skip
        with pytest.raises(error):
            ask()


@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_banded_triangles(count, lower, adjoint):
    bands = sample("complex128", (2, count, 5), count)
    bands[:, 0 if lower else -1] += 6
    full = np.zeros((2, 5, 5), complex)
    for row in range(count):
        d = -row if lower else count - 1 - row
        for i in range(5):
            if 0 <= i + d < 5:
                full[:, i, i + d] = bands[:, row, i]
    rhs = sample("complex128", (2, 5, 3), 1)
    matrix = np.swapaxes(full, -1, -2).conj() if adjoint else full
    got = tf.linalg.banded_triangular_solve(bands, rhs, lower, adjoint)
    assert_close(got, np.linalg.solve(matrix, rhs), rtol=1e-10)
