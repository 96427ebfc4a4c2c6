"""Decompositions and solutions of linear systems against NumPy, or against what defines them."""

import numpy as np
import pytest
from arrays import assert_close, sample
from hypothesis import given, settings
from hypothesis import strategies as st

import tidemark as tf

TYPES = ("float32", "float64", "complex64", "complex128")
SHAPES = ((1, 1), (3, 3), (2, 3, 3), (2, 2, 5, 5), (40, 40), (0, 3, 3), (0, 0), (2, 0, 0))
LOOSE = {"float32": 2e-4, "complex64": 2e-4, "float64": 1e-10, "complex128": 1e-10}


def adjoint(a):
    return np.swapaxes(a, -1, -2).conj()


def regular(dtype, shape, seed=0):
    """Square matrices far from singular."""
    a = sample(dtype, shape, seed)
    return (a + 4 * shape[-1] * np.eye(shape[-1])).astype(dtype)


def positive(dtype, shape, seed=0):
    a = sample(dtype, shape, seed)
    return (a @ adjoint(a) + shape[-1] * np.eye(shape[-1])).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_cholesky(dtype, shape):
    a = positive(dtype, shape)
    lower = tf.linalg.cholesky(np.tril(a)).numpy()  # the upper triangle is not read
    np.testing.assert_array_equal(lower, np.tril(lower))
    np.testing.assert_allclose(lower @ adjoint(lower), a, rtol=LOOSE[dtype], atol=LOOSE[dtype])
    rhs = sample(dtype, (*shape[:-1], 2), 3)
    solved = tf.linalg.cholesky_solve(lower, rhs)
    np.testing.assert_allclose(a @ solved.numpy(), rhs, rtol=1e-2, atol=10 * LOOSE[dtype])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_solutions(dtype, shape):
    a, rhs = regular(dtype, shape), sample(dtype, (*shape[:-1], 2), 1)
    limits = {"rtol": LOOSE[dtype], "atol": LOOSE[dtype]}
    assert_close(tf.linalg.solve(a, rhs), np.linalg.solve(a, rhs), **limits)
    expected = np.linalg.solve(adjoint(a), rhs)
    assert_close(tf.linalg.solve(a, rhs, adjoint=True), expected, **limits)
    assert_close(tf.linalg.inv(a), np.linalg.inv(a), **limits)
    assert_close(tf.linalg.inv(a, adjoint=True), np.linalg.inv(adjoint(a)), **limits)
    for lower in (True, False):
        part = np.tril(a) if lower else np.triu(a)
        got = tf.linalg.triangular_solve(a, rhs, lower=lower)
        assert_close(got, np.linalg.solve(part, rhs), **limits)
        got = tf.linalg.triangular_solve(a, rhs, lower=lower, adjoint=True)
        assert_close(got, np.linalg.solve(adjoint(part), rhs), **limits)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_determinants(dtype, shape):
    a = (regular(dtype, shape) / (4 * max(shape[-1], 1))).astype(dtype)
    limits = {"rtol": 50 * LOOSE[dtype], "atol": 1e-6}
    assert_close(tf.linalg.det(a), np.linalg.det(a), **limits)
    sign, log_abs = tf.linalg.slogdet(a)
    expected = np.linalg.slogdet(a)
    assert_close(sign, expected[0].astype(dtype), **limits)
    assert_close(log_abs, expected[1].astype(dtype), **limits)
    p = positive(dtype, shape)
    assert_close(tf.linalg.logdet(p), np.linalg.slogdet(p)[1], check_dtype=False, **limits)


def test_singular_and_bad_input():
    flat = np.ones((2, 2))
    assert tf.linalg.det(flat).numpy() == 0
    sign, log_abs = tf.linalg.slogdet(flat)
    assert sign.numpy() == 0 and log_abs.numpy() == -np.inf
    for function in (tf.linalg.inv, tf.linalg.lu, lambda m: tf.linalg.solve(m, m)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
            function(flat)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        tf.linalg.triangular_solve([[0.0, 0.0], [1.0, 1.0]], [[1.0], [1.0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cholesky decomposition was not"):
        tf.linalg.cholesky([[1.0, 2.0], [2.0, 1.0]])
    for function in (tf.linalg.cholesky, tf.linalg.inv, tf.linalg.det):
        with pytest.raises(tf.errors.InvalidArgumentError, match="square"):
            function(np.ones((2, 3)))
        with pytest.raises(tf.errors.InvalidArgumentError, match="rank 2"):
            function(np.ones(3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="rows"):
        tf.linalg.solve(np.eye(2), np.ones((3, 1)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="leading dimensions"):
        tf.linalg.solve(np.ones((2, 2, 2)), np.ones((3, 2, 1)))


def test_not_a_number():
    bad = np.array([[np.nan, 1.0], [1.0, 2.0]])
    assert np.isnan(tf.linalg.cholesky(bad).numpy()).any()
    assert np.isnan(tf.linalg.inv(bad).numpy()).any()
    assert np.isnan(tf.linalg.det(bad).numpy())
    assert all(np.isnan(part.numpy()).all() for part in tf.linalg.svd(bad))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [*SHAPES, (4, 2), (2, 4), (3, 5, 2), (3, 2, 5), (0, 3), (3, 0)])
@pytest.mark.parametrize("full", [False, True])
def test_svd(dtype, shape, full):
    a = sample(dtype, shape)
    limits = {"rtol": 5 * LOOSE[dtype], "atol": 5 * LOOSE[dtype]}
    s, u, v = tf.linalg.svd(a, full_matrices=full)
    p = min(shape[-2:])
    np.testing.assert_allclose(s.numpy(), np.linalg.svd(a, compute_uv=False), **limits)
    np.testing.assert_allclose(tf.linalg.svd(a, compute_uv=False).numpy(), s.numpy(), **limits)
    u, v = u.numpy(), v.numpy()
    assert u.shape[-1] == (shape[-2] if full else p) and v.shape[-1] == (shape[-1] if full else p)
    back = (u[..., :p] * s.numpy()[..., None, :]) @ adjoint(v[..., :p])
    np.testing.assert_allclose(back, a, **limits)
    unit = np.broadcast_to(np.eye(u.shape[-1]), (*shape[:-2], u.shape[-1], u.shape[-1]))
    np.testing.assert_allclose(adjoint(u) @ u, unit, **limits)


@pytest.mark.parametrize("dtype", TYPES)
def test_lu(dtype):
    for shape in ((3, 3), (2, 4, 4)):
        a = sample(dtype, shape)
        lower_upper, p = tf.linalg.lu(a)
        limits = {"rtol": LOOSE[dtype], "atol": LOOSE[dtype]}
        assert p.dtype == tf.int32 and tf.linalg.lu(a, tf.int64).p.dtype == tf.int64
        assert_close(tf.linalg.lu_reconstruct(lower_upper, p), a, **limits)
        rhs = sample(dtype, (*shape[:-1], 2), 1)
        solved = tf.linalg.lu_solve(lower_upper, p, rhs).numpy()
        np.testing.assert_allclose(a @ solved, rhs, rtol=1e-2, atol=20 * LOOSE[dtype])
        inverse = tf.linalg.lu_matrix_inverse(lower_upper, p).numpy()
        unit = np.broadcast_to(np.eye(shape[-1]), shape)
        np.testing.assert_allclose(a @ inverse, unit, rtol=1e-2, atol=20 * LOOSE[dtype])


def test_rank_and_pseudo_inverse():
    a = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    assert tf.linalg.matrix_rank(a).numpy() == 1
    assert tf.linalg.matrix_rank(np.eye(3)).numpy() == 3
    assert tf.linalg.matrix_rank(np.diag([1.0, 1e-3]), tol=1e-2).numpy() == 1
    assert_close(tf.linalg.pinv(a), np.linalg.pinv(a), rtol=1e-10)
    b = sample("float64", (2, 3, 5))
    assert_close(tf.linalg.pinv(b), np.linalg.pinv(b), rtol=1e-9)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 4, 4)])
def test_least_squares(shape):
    a, rhs = sample("float64", shape), sample("float64", (*shape[:-1], 2), 1)
    expected = np.linalg.pinv(a) @ rhs
    assert_close(tf.linalg.lstsq(a, rhs), expected, rtol=1e-7)
    assert_close(tf.linalg.lstsq(a, rhs, fast=False), expected, rtol=1e-7)
    n = shape[-1]
    damped = np.linalg.solve(adjoint(a) @ a + 0.5 * np.eye(n), adjoint(a) @ rhs)
    assert_close(tf.linalg.lstsq(a, rhs, l2_regularizer=0.5), damped, rtol=1e-9)


def test_spectral_norm():
    a = sample("float64", (2, 3, 4))
    expected = np.linalg.norm(a, 2, axis=(1, 2))
    assert_close(tf.norm(a, ord=2, axis=[1, 2]), expected, rtol=1e-12)
    kept = tf.norm(a, ord=2, axis=[0, 2], keepdims=True)
    assert_close(kept, np.linalg.norm(a, 2, axis=(0, 2), keepdims=True), rtol=1e-12)


def test_triangular_solve_broadcasts():
    a, rhs = regular("float64", (2, 1, 3, 3)), sample("float64", (4, 3, 2))
    expected = np.linalg.solve(np.tril(a), rhs)
    assert_close(tf.linalg.triangular_solve(a, rhs), expected, rtol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 6), st.integers(1, 6), st.integers(1, 6), st.integers(0, 99))
def test_random_shapes(batch, rows, columns, seed):
    a = sample("float64", (batch, rows, columns), seed)
    s, u, v = (part.numpy() for part in tf.linalg.svd(a))
    np.testing.assert_allclose((u * s[..., None, :]) @ adjoint(v), a, atol=1e-10)


def test_memory_is_counted_and_given_back():
    a = tf.constant(positive("float64", (300, 300)))
    for function in (tf.linalg.svd, tf.linalg.inv, tf.linalg.lu):
        function(a)
        before = tf.memory.stats().live
        function(a)
        assert tf.memory.stats().live == before


def test_results_do_not_depend_on_threads():
    from tidemark import _tidemark

    a = sample("float32", (9, 12, 12))
    old = _tidemark.set_num_threads(1)
    one = [part.numpy() for part in tf.linalg.svd(a)]
    _tidemark.set_num_threads(4)
    four = [part.numpy() for part in tf.linalg.svd(a)]
    _tidemark.set_num_threads(old)
    for x, y in zip(one, four, strict=True):
        np.testing.assert_array_equal(x, y)
