"""Orthogonal factors, eigenvalues and functions of matrices, by what defines them or NumPy."""

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


def close(got, expected, dtype, factor=1):
    got = got.numpy() if isinstance(got, tf.Tensor) else got
    limit = factor * LOOSE[dtype]
    np.testing.assert_allclose(got, expected, rtol=limit, atol=limit)


def check_qr(a, dtype, full):
    q, r = tf.linalg.qr(a, full_matrices=full)
    reference = np.linalg.qr(a, mode="complete" if full else "reduced")
    assert q.numpy().shape == reference.Q.shape and r.numpy().shape == reference.R.shape
    assert q.numpy().dtype == r.numpy().dtype == np.dtype(dtype)
    np.testing.assert_array_equal(r.numpy(), np.triu(r.numpy()))
    close(q.numpy() @ r.numpy(), a, dtype)
    unit = np.broadcast_to(np.eye(q.shape[-1]), (*a.shape[:-2], q.shape[-1], q.shape[-1]))
    close(adjoint(q.numpy()) @ q.numpy(), unit, dtype)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [*SHAPES, (5, 2), (2, 5), (3, 7, 4), (0, 3), (3, 0), (90, 33)])
def test_qr(dtype, shape, full):
    check_qr(sample(dtype, shape), dtype, full)


@given(m=st.integers(0, 9), n=st.integers(0, 9), full=st.booleans(), seed=st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_qr_of_any_shape(m, n, full, seed):
    check_qr(sample("float64", (2, m, n), seed), "float64", full)


def test_qr_of_dependent_columns():
    a = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [3.0, 6.0, 0.0]])
    check_qr(a, "float64", False)
    check_qr(np.zeros((3, 2)), "float64", True)
    q, r = tf.linalg.qr(a * 1e-200)
    close(q.numpy() @ r.numpy() * 1e200, a, "float64")


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_eigh(dtype, shape):
    a = sample(dtype, shape)
    a = a + adjoint(a)
    e, v = tf.linalg.eigh(np.tril(a))  # the upper triangle is not read
    e, v = e.numpy(), v.numpy()
    assert v.dtype == np.dtype(dtype) and e.dtype == np.zeros(1, dtype).real.dtype
    close(e, np.linalg.eigvalsh(a), dtype, 20)
    close(a @ v, v * e[..., None, :], dtype, 20)
    close(adjoint(v) @ v, np.broadcast_to(np.eye(shape[-1]), shape), dtype)
    close(tf.linalg.eigvalsh(a), e, dtype, 20)


def test_eigh_of_special_matrices():
    for a in (np.zeros((4, 4)), np.eye(4), np.diag([3.0, 1.0, 2.0]), np.ones((5, 5))):
        e, v = tf.linalg.eigh(a)
        close(e, np.linalg.eigvalsh(a), "float64")
        close(v.numpy() * e.numpy() @ v.numpy().T, a, "float64")
    for bad in (np.nan, np.inf):
        e, v = tf.linalg.eigh([[1.0, 0.0], [bad, 1.0]])
        assert np.isnan(e.numpy()).all() and np.isnan(v.numpy()).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_eig(dtype, shape):
    a = sample(dtype, shape)
    e, v = tf.linalg.eig(a)
    assert e.numpy().dtype == v.numpy().dtype == np.result_type(dtype, "complex64")
    e, v = e.numpy(), v.numpy()
    close(a @ v, v * e[..., None, :], dtype, 20)
    close(np.linalg.norm(v, axis=-2), np.ones(e.shape), dtype)
    # As a set: each of NumPy's is near one of ours.
    expected = np.linalg.eigvals(a)
    gaps = np.abs(expected[..., :, None] - e[..., None, :])
    if gaps.size:
        assert gaps.min(-1).max() < 100 * LOOSE[dtype] and gaps.min(-2).max() < 100 * LOOSE[dtype]
    close(tf.linalg.eigvals(a), e, dtype, 50)
    assert tf.eig is tf.linalg.eig and tf.eigvals is tf.linalg.eigvals


def test_eig_of_special_matrices():
    e, v = tf.linalg.eig([[2.0, 0.0], [0.0, 3.0]])
    np.testing.assert_array_equal(np.sort(e.numpy()), [2, 3])
    assert (v.numpy().imag == 0).all()
    e, v = tf.linalg.eig(np.array([[0.0, 1.0], [-1.0, 0.0]]))
    np.testing.assert_allclose(np.sort_complex(e.numpy()), [-1j, 1j], atol=1e-15)
    permutation = np.roll(np.eye(6), 1, axis=0)  # the usual shift goes round in circles here
    close(np.abs(tf.linalg.eigvals(permutation).numpy()), np.ones(6), "float64")
    defective = np.array([[1.0, 1.0], [0.0, 1.0]])
    e, v = tf.linalg.eig(defective)
    close(defective @ v.numpy(), v.numpy() * e.numpy(), "float64")
    assert np.isnan(tf.linalg.eigvals([[np.nan, 1.0], [0.0, 1.0]]).numpy()).all()


def test_eigh_tridiagonal():
    alpha, beta = np.array([1.0, 5.0, -2.0, 0.5]), np.array([0.3, -1.0, 2.0])
    a = np.diag(alpha) + np.diag(beta, 1) + np.diag(beta, -1)
    expected = np.linalg.eigvalsh(a)
    close(tf.linalg.eigh_tridiagonal(alpha, beta), expected, "float64")
    e, v = tf.linalg.eigh_tridiagonal(
        alpha, beta, eigvals_only=False, select="i", select_range=(1, 2)
    )
    close(e, expected[1:3], "float64")
    close(a @ v.numpy(), v.numpy() * e.numpy(), "float64")
    got = tf.linalg.eigh_tridiagonal(alpha, beta, select="v", select_range=(0.0, 2.0))
    close(got, expected[(expected > 0) & (expected <= 2)], "float64")
    with pytest.raises(ValueError, match="select_range"):
        tf.linalg.eigh_tridiagonal(alpha, beta, select="i", select_range=(1, 9))
    with pytest.raises(tf.errors.InvalidArgumentError, match="an element less"):
        tf.linalg.eigh_tridiagonal(alpha, alpha)


def power_series(a):
    """The exponential of small matrices."""
    total = term = np.broadcast_to(np.eye(a.shape[-1]), a.shape).astype(a.dtype)
    for k in range(1, 80):
        term = term @ a / k
        total = total + term
    return total


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [s for s in SHAPES if s != (40, 40)])
def test_exponential(dtype, shape):
    a = sample(dtype, shape)
    wide = np.complex128 if np.dtype(dtype).kind == "c" else np.float64
    expected = power_series(a.astype(wide))
    got = tf.linalg.expm(a).numpy()
    assert got.dtype == np.dtype(dtype)
    scale = np.abs(expected).max(initial=1)
    close(got / scale, expected / scale, dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_square_root_and_logarithm(dtype, shape):
    a = sample(dtype, shape)
    a = (a @ adjoint(a) / max(shape[-1], 1) + a / 50 + np.eye(shape[-1])).astype(dtype)
    root = tf.linalg.sqrtm(a)
    assert root.numpy().dtype == np.dtype(dtype)
    close(root.numpy() @ root.numpy(), a, dtype, 10)
    close(tf.linalg.expm(tf.linalg.logm(a)), a, dtype, 10)
    close(tf.linalg.logm(tf.linalg.expm(a / 20)), a / 20, dtype)


def test_functions_at_the_edge():
    close(tf.linalg.expm([[0.0, 3.0], [-3.0, 0.0]]),
          [[np.cos(3), np.sin(3)], [-np.sin(3), np.cos(3)]], "float32")  # fmt: skip
    close(tf.linalg.expm(np.diag([700.0, -700.0])).numpy() / np.exp(700.0),
          [[1, 0], [0, 0]], "float64")  # fmt: skip
    assert np.isnan(tf.linalg.expm([[np.inf, 0.0], [0.0, 1.0]]).numpy()).all()
    # A root of -1 is complex; a real matrix has none.
    assert np.isnan(tf.linalg.sqrtm([[-1.0, 0.0], [0.0, 4.0]]).numpy()).all()
    close(tf.linalg.sqrtm(np.array([[-1 + 0j, 0], [0, 4]])), [[1j, 0], [0, 2]], "complex128")
    spiral = np.array([[-1.0, 1e-3], [-1e-3, -1.0]])  # a real root, near the edge
    close(tf.linalg.sqrtm(spiral).numpy() @ tf.linalg.sqrtm(spiral).numpy(), spiral, "float64")
    close(tf.linalg.logm(np.array([[np.e, 1.0], [0.0, np.e]])), [[1, 1 / np.e], [0, 1]], "float64")


def test_bad_input():
    for function in (
        tf.linalg.eigh, tf.linalg.eig, tf.linalg.eigvals, tf.linalg.eigvalsh,
        tf.linalg.expm, tf.linalg.logm, tf.linalg.sqrtm,
    ):  # fmt: skip
        with pytest.raises(tf.errors.InvalidArgumentError, match="square"):
            function(np.ones((2, 3)))
        with pytest.raises(tf.errors.InvalidArgumentError, match="rank 2"):
            function(np.ones(2))
        with pytest.raises((tf.errors.InvalidArgumentError, TypeError)):
            function(np.ones((2, 2), "int32"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="rank 2"):
        tf.linalg.qr(np.ones(2))


def test_gradients_of_complex_matrices():
    """Along real and imaginary directions; what is summed does not depend on the phases."""
    a = sample("complex128", (3, 3), 5)

    def of_qr(m):
        q, r = tf.linalg.qr(m)
        weights = tf.constant(sample("float64", (3, 3), 1))
        return tf.reduce_sum(weights * (tf.math.real(q) + 2.0 * tf.math.imag(r)))

    def of_eigh(m):
        e, v = tf.linalg.eigh(m)
        weights = tf.constant(sample("float64", (3, 3), 2))
        return tf.reduce_sum(weights * tf.abs(v) ** 2) + tf.reduce_sum(e * e)

    def of_exponential(m):
        weights = tf.constant(sample("float64", (3, 3), 3))
        return tf.reduce_sum(weights * tf.math.imag(tf.linalg.expm(m)))

    for function in (of_qr, of_eigh, of_exponential):
        x = tf.constant(a)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        dx = tape.gradient(y, x).numpy()
        for i, j in np.ndindex(3, 3):
            for unit in (1.0, 1j):
                if function is of_eigh and (i < j or (i == j and unit == 1j)):
                    continue  # not read
                step = np.zeros((3, 3), complex)
                step[i, j] = unit * 1e-6
                up, down = function(tf.constant(a + step)), function(tf.constant(a - step))
                numeric = (up.numpy() - down.numpy()) / 2e-6
                along = dx[i, j].real if unit == 1.0 else dx[i, j].imag
                assert_close(tf.constant(along), numeric, rtol=1e-5, atol=1e-6)


def test_gradient_of_full_qr_is_not_there():
    x = tf.constant(sample("float64", (3, 2)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        q, _ = tf.linalg.qr(x, full_matrices=True)
    with pytest.raises(tf.errors.UnimplementedError, match="full_matrices=False"):
        tape.gradient(q, x)
