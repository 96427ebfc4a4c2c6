"""Linear operators against the matrices they stand for."""

import numpy as np
import pytest

import tidemark as tf

L = tf.linalg
RNG = np.random.default_rng(0)


def draw(*shape, kind=np.float64):
    x = RNG.normal(size=shape)
    return (x + 1j * RNG.normal(size=shape)).astype(kind) if kind == np.complex128 else x


def regular(n, batch=(), kind=np.float64):
    return draw(*batch, n, n, kind=kind) + 2 * n * np.eye(n)


def definite(n, batch=()):
    x = draw(*batch, n, n)
    return x @ np.swapaxes(x, -1, -2) + n * np.eye(n)


def toeplitz(col, row):
    n, m = len(col), len(row)
    return np.array([[col[i - j] if i >= j else row[j - i] for j in range(m)] for i in range(n)])


def block_diag(*blocks):
    out = np.zeros([sum(b.shape[i] for b in blocks) for i in (0, 1)])
    at = np.zeros(2, int)
    for b in blocks:
        out[at[0] : at[0] + b.shape[0], at[1] : at[1] + b.shape[1]] = b
        at += b.shape
    return out


def circulant(spectrum):
    """Each column the response to an impulse."""
    n = spectrum.size
    columns = []
    for i in range(n):
        impulse = np.zeros(n)
        impulse[i] = 1
        y = np.fft.ifftn(np.fft.fftn(impulse.reshape(spectrum.shape)) * spectrum)
        columns.append(y.reshape(-1))
    return np.array(columns).T


A, B, P = regular(3), regular(2), definite(3)
BATCH, Z = regular(3, (2,)), regular(3, kind=np.complex128)
TRIL = np.tril(regular(3))
DIAGONAL, AXIS = np.array([1.0, -2.0, 3.0]), np.array([1.0, 2.0, -1.0])
BANDS = np.array([[1.0, 2.0, 0.0], [5.0, 6.0, 7.0], [0.0, 1.0, 2.0]])
THREE = np.diag([5.0, 6, 7]) + np.diag([1.0, 2], 1) + np.diag([1.0, 2], -1)
U, V, D = draw(3, 2), draw(3, 2), np.array([0.5, 2.0])
COL, ROW = np.array([5.0, 1.0, 2.0]), np.array([5.0, -1.0, 0.5])
UNIT = AXIS / np.linalg.norm(AXIS)
S1, S2 = draw(4, kind=np.complex128) + 4, draw(2, 3, kind=np.complex128) + 4
S3 = draw(2, 2, 2, kind=np.complex128) + 4
FULL = L.LinearOperatorFullMatrix
LOW = np.block([[A, np.zeros((3, 2))], [draw(2, 3), B]])
CASES = {
    "full": (lambda: FULL(A), A),
    "full batch": (lambda: FULL(BATCH), BATCH),
    "full complex": (lambda: FULL(Z), Z),
    "full definite": (lambda: FULL(P, is_self_adjoint=True, is_positive_definite=True), P),
    "diag": (lambda: L.LinearOperatorDiag(DIAGONAL), np.diag(DIAGONAL)),
    "diag complex": (lambda: L.LinearOperatorDiag(DIAGONAL * 1j), np.diag(DIAGONAL * 1j)),
    "identity": (lambda: L.LinearOperatorIdentity(3, dtype=tf.float64), np.eye(3)),
    "identities": (
        lambda: L.LinearOperatorIdentity(3, batch_shape=[2], dtype=tf.float64),
        np.broadcast_to(np.eye(3), (2, 3, 3)),
    ),
    "scaled": (
        lambda: L.LinearOperatorScaledIdentity(3, np.array([2.0, -3.0])),
        np.array([2.0, -3.0])[:, None, None] * np.eye(3),
    ),
    "tril": (lambda: L.LinearOperatorLowerTriangular(A), np.tril(A)),
    "tridiag": (lambda: L.LinearOperatorTridiag(BANDS), THREE),
    "tridiag matrix": (lambda: L.LinearOperatorTridiag(THREE, "matrix"), THREE),
    "tridiag sequence": (lambda: L.LinearOperatorTridiag(list(BANDS), "sequence"), THREE),
    "toeplitz": (lambda: L.LinearOperatorToeplitz(COL, ROW), toeplitz(COL, ROW)),
    "householder": (
        lambda: L.LinearOperatorHouseholder(AXIS),
        np.eye(3) - 2 * np.outer(UNIT, UNIT),
    ),
    "permutation": (
        lambda: L.LinearOperatorPermutation([2, 0, 1], dtype=tf.float64),
        np.eye(3)[[2, 0, 1]],
    ),
    "circulant": (lambda: L.LinearOperatorCirculant(S1, tf.complex128), circulant(S1)),
    "circulant 2": (lambda: L.LinearOperatorCirculant2D(S2, tf.complex128), circulant(S2)),
    "circulant 3": (lambda: L.LinearOperatorCirculant3D(S3, tf.complex128), circulant(S3)),
    "adjoint": (lambda: L.LinearOperatorAdjoint(FULL(Z)), Z.conj().T),
    "inversion": (lambda: L.LinearOperatorInversion(FULL(A)), np.linalg.inv(A)),
    "composition": (lambda: L.LinearOperatorComposition([FULL(A), FULL(P)]), A @ P),
    "kronecker": (lambda: L.LinearOperatorKronecker([FULL(A), FULL(B)]), np.kron(A, B)),
    "block diag": (lambda: L.LinearOperatorBlockDiag([FULL(A), FULL(B)]), block_diag(A, B)),
    "block tril": (
        lambda: L.LinearOperatorBlockLowerTriangular([[FULL(A)], [FULL(LOW[3:, :3]), FULL(B)]]),
        LOW,
    ),
    "low rank": (
        lambda: L.LinearOperatorLowRankUpdate(FULL(A), U, D, V),
        A + U @ np.diag(D) @ V.T,
    ),
    "low rank definite": (
        lambda: L.LinearOperatorLowRankUpdate(
            FULL(P, is_self_adjoint=True, is_positive_definite=True), U
        ),
        P + U @ U.T,
    ),
}


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


@pytest.mark.parametrize("name", CASES)
def test_as_its_matrix(name):
    make, matrix = CASES[name]
    operator = make()
    n = matrix.shape[-1]
    kind = matrix.dtype.type
    x = draw(n, 2, kind=kind if kind == np.complex128 else np.float64)
    assert tuple(operator.shape) == matrix.shape and operator.is_square
    assert operator.shape_tensor().numpy().tolist() == list(matrix.shape)
    assert operator.tensor_rank == matrix.ndim and operator.domain_dimension == n
    assert operator.batch_shape_tensor().numpy().tolist() == list(matrix.shape[:-2])
    close(operator.to_dense(), matrix)
    close(operator.matmul(x), matrix @ x)
    close(operator @ x, matrix @ x)
    close(operator.matmul(x, adjoint=True), adjoint(matrix) @ x)
    close(operator.matmul(adjoint(x), adjoint_arg=True), matrix @ x)
    close(operator.matvec(x[:, 0]), matrix @ x[:, 0])
    close(operator.solve(matrix @ x), np.broadcast_to(x, (matrix @ x).shape))
    close(operator.solve(adjoint(matrix) @ x, adjoint=True), np.broadcast_to(x, (matrix @ x).shape))
    close(operator.solvevec(matrix @ x[:, 0]), np.broadcast_to(x[:, 0], (matrix @ x[:, 0]).shape))
    close(operator.diag_part(), np.diagonal(matrix, axis1=-2, axis2=-1))
    close(operator.trace(), np.trace(matrix, axis1=-2, axis2=-1))
    close(operator.determinant(), np.linalg.det(matrix))
    close(operator.log_abs_determinant(), np.linalg.slogdet(matrix)[1])
    close(operator.cond(), np.linalg.cond(matrix))
    close(operator.add_to_tensor(np.ones((n, n))), matrix + 1)
    close(operator.adjoint().to_dense(), adjoint(matrix))
    close(operator.H.matmul(x), adjoint(matrix) @ x)
    close(operator.inverse().matmul(matrix @ x), np.broadcast_to(x, (matrix @ x).shape))
    close(operator.matmul(FULL(adjoint(matrix))).to_dense(), matrix @ adjoint(matrix))
    operator.assert_non_singular()
    assert operator.graph_parents == [] and operator.dtype.is_floating or operator.dtype.is_complex


@pytest.mark.parametrize("name", CASES)
def test_in_a_function_and_backwards(name):
    make, matrix = CASES[name]
    x = tf.constant(draw(matrix.shape[-1], 2).astype(matrix.dtype))

    @tf.function
    def run(x):
        operator = make()
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = operator.matmul(x)
            total = tf.reduce_sum(tf.math.real(y))
        return y, tape.gradient(total, x), operator.solve(y)

    y, dx, back = run(x)
    close(y, matrix @ x.numpy())
    ones = np.ones_like(matrix @ x.numpy())
    want = adjoint(matrix) @ ones
    close(dx, want.reshape(-1, *x.shape).sum(0))
    close(back, np.broadcast_to(x.numpy(), back.shape))


def test_structure_is_kept():
    d = L.LinearOperatorDiag([1.0, 4.0], is_positive_definite=True)
    assert isinstance(d.inverse(), L.LinearOperatorDiag)
    assert isinstance(d.matmul(d), L.LinearOperatorDiag)
    assert isinstance(d.cholesky(), L.LinearOperatorDiag)
    close(d.cholesky().diag, [1, 2])
    close(d.eigvals(), [1, 4])
    one = L.LinearOperatorIdentity(2)
    assert one.inverse() is one and one.matmul(d) is d
    full = FULL(P, is_self_adjoint=True, is_positive_definite=True)
    factor = full.cholesky()
    assert isinstance(factor, L.LinearOperatorLowerTriangular)
    close(factor.to_dense() @ adjoint(factor.to_dense().numpy()), P)
    close(full.eigvals(), np.linalg.eigvalsh(P))
    assert full.adjoint() is full and full.inverse().inverse() is full


def test_zeros():
    zeros = L.LinearOperatorZeros(2, 3, is_self_adjoint=False, is_square=False)
    close(zeros.to_dense(), np.zeros((2, 3)))
    close(zeros.matmul(np.ones((3, 4), np.float32)), np.zeros((2, 4)))
    close(zeros.adjoint().to_dense(), np.zeros((3, 2)))
    assert L.LinearOperatorZeros(2).determinant() == 0
    with pytest.raises(NotImplementedError, match="singular"):
        L.LinearOperatorZeros(2).solve(np.ones((2, 1), np.float32))


def test_variables_train():
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.scale = tf.Variable([1.0, 2.0])

    model = Model()
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(L.LinearOperatorDiag(model.scale).matvec([3.0, 4.0]))
    close(tape.gradient(y, model.scale), [3, 4])


def test_conjugate_gradient():
    operator = FULL(P, is_self_adjoint=True, is_positive_definite=True)
    rhs = draw(3)
    for run in (L.experimental.conjugate_gradient, tf.function(L.experimental.conjugate_gradient)):
        found = run(operator, rhs, tol=1e-12)
        close(found.x, np.linalg.solve(P, rhs))
        assert 0 < found.i <= 4
    inverse = L.LinearOperatorDiag(1 / np.diag(P), is_positive_definite=True)
    close(
        L.experimental.conjugate_gradient(operator, rhs, preconditioner=inverse, tol=1e-12).x,
        np.linalg.solve(P, rhs),
    )
    with pytest.raises(ValueError, match="self-adjoint"):
        L.experimental.conjugate_gradient(FULL(P), rhs)


def test_bad_input():
    wide = FULL(draw(2, 3))
    for what in (wide.determinant, wide.cond, lambda: wide.solve(np.ones((2, 1)))):
        with pytest.raises(NotImplementedError, match="square"):
            what()
    with pytest.raises(ValueError, match="non square"):
        wide.inverse()
    with pytest.raises(ValueError, match="not compatible"):
        FULL(A).matmul(np.ones((4, 1)))
    with pytest.raises(ValueError, match="incompatible"):
        FULL(A).matmul(FULL(B))
    with pytest.raises(ValueError, match="not compatible"):
        L.LinearOperatorComposition([FULL(A), FULL(B)])
    with pytest.raises(TypeError, match="same dtype"):
        L.LinearOperatorComposition([FULL(A), FULL(A.astype(np.float32))])
    with pytest.raises(ValueError, match="positive definite self adjoint"):
        FULL(A).cholesky()
    with pytest.raises(ValueError, match="at least 2"):
        FULL([1.0])
    with pytest.raises(ValueError, match="always non-singular"):
        FULL(A, is_non_singular=False, is_positive_definite=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Singular"):
        FULL(np.zeros((2, 2)) + 1.0).assert_non_singular()
    with pytest.raises(tf.errors.InvalidArgumentError, match="adjoint"):
        FULL(A).assert_self_adjoint()
    with pytest.raises(tf.errors.InvalidArgumentError, match="positive definite"):
        FULL(-P).assert_positive_definite()
    with pytest.raises(NotImplementedError, match="self-adjoint"):
        FULL(A).eigvals()
