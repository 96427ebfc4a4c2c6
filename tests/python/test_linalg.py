"""Products, norms, diagonals against NumPy."""

import numpy as np
import pytest
from arrays import assert_close, sample

import tidemark as tf

MATRICES = ("float32", "float64", "int32", "int64", "complex64", "complex128", "float16")


@pytest.mark.parametrize("dtype", MATRICES)
def test_matmul(dtype):
    rtol = {"float16": 2e-2, "float32": 1e-4, "complex64": 1e-4}.get(dtype, 1e-11)
    shapes = [((3, 4), (4, 5)), ((1, 7), (7, 1)), ((2, 0), (0, 3)), ((0, 2), (2, 3)),
              ((65, 33), (33, 17)), ((2, 3, 4), (2, 4, 5)), ((3, 4), (2, 4, 5)),
              ((2, 1, 3, 4), (5, 4, 2))]  # fmt: skip
    for shape_a, shape_b in shapes:
        a, b = sample(dtype, shape_a, 1), sample(dtype, shape_b, 2)
        expected = np.matmul(a.astype("f8"), b.astype("f8")) if dtype == "float16" else a @ b
        expected = expected.astype(dtype)
        assert_close(tf.matmul(a, b), expected, rtol=rtol)
        at, bt = np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)
        assert_close(tf.matmul(at, b, transpose_a=True), expected, rtol=rtol)
        assert_close(tf.matmul(a, bt, transpose_b=True), expected, rtol=rtol)
        assert_close(tf.matmul(at, bt, transpose_a=True, transpose_b=True), expected, rtol=rtol)
        if np.dtype(dtype).kind == "c":
            assert_close(tf.matmul(at.conj(), b, adjoint_a=True), expected, rtol=rtol)


def test_operator():
    a, b = sample("float32", (2, 3)), sample("float32", (3, 4))
    assert_close(tf.constant(a) @ tf.constant(b), a @ b, rtol=1e-5)
    assert_close(a @ tf.constant(b), a @ b, rtol=1e-5)
    assert_close(tf.constant(a) @ b, a @ b, rtol=1e-5)


@pytest.mark.parametrize(
    ("shape_a", "shape_b"), [((2, 3), (2, 3)), ((2,), (2,)), ((3, 2, 2), (2, 2, 2)), ((), (2, 2))]
)
def test_what_does_not_multiply(shape_a, shape_b):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.matmul(tf.zeros(shape_a), tf.zeros(shape_b))


def test_matvec_tensordot():
    a, v = sample("float64", (3, 4)), sample("float64", (4,))
    assert_close(tf.linalg.matvec(a, v), a @ v)
    assert_close(tf.linalg.matvec(a.T, v, transpose_a=True), a @ v)
    b = sample("float64", (4, 5, 2))
    assert_close(tf.tensordot(a, b, 1), np.tensordot(a, b, 1))
    assert_close(tf.tensordot(a, b, [[1], [0]]), np.tensordot(a, b, [[1], [0]]))
    assert_close(tf.tensordot(a, a, 2), np.tensordot(a, a, 2))
    assert_close(tf.tensordot(v, v, 0), np.tensordot(v, v, 0))
    assert_close(tf.tensordot(a, b, (-1, 0)), np.tensordot(a, b, (-1, 0)))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.tensordot(tf.zeros([2, 3]), tf.zeros([2, 3]), 1)
    for axes in (5, -1, [[0], [0, 1]], [[0]]):
        with pytest.raises(ValueError):
            tf.tensordot(a, b, axes)


def test_norms():
    a = sample("float64", (3, 4))
    assert_close(tf.norm(a), np.linalg.norm(a))
    for order in (1, 2, 3.5, np.inf):
        expected = np.linalg.norm(a, ord=order, axis=1)
        assert_close(tf.norm(a, ord=order, axis=1), expected, rtol=1e-12)
    for order, numpy in (("fro", "fro"), ("euclidean", "fro"), (1, 1), (np.inf, np.inf)):
        expected = np.linalg.norm(a, ord=numpy, axis=(0, 1))
        assert_close(tf.norm(a, ord=order, axis=[0, 1]), expected, rtol=1e-12)
    assert tf.norm(a, axis=1, keepdims=True).shape == (3, 1)
    assert_close(tf.norm(tf.complex(3.0, 4.0)), np.float32(5))
    with pytest.raises(ValueError, match="'ord' must be a supported vector norm, got foo"):
        tf.norm(a, ord="foo")
    unit, length = tf.linalg.normalize(a, axis=1)
    assert_close(tf.norm(unit, axis=1), np.ones(3))
    assert length.shape == (3, 1)
    assert_close(tf.math.l2_normalize(a, axis=1), a / np.linalg.norm(a, axis=1, keepdims=True))


def test_clipping_by_norm():
    a = sample("float64", (3, 4))
    clipped = tf.clip_by_norm(a, 1.0)
    assert_close(tf.norm(clipped), np.float64(1))
    assert_close(tf.clip_by_norm(a * 1e-3, 1.0), a * 1e-3)
    assert tf.clip_by_norm(tf.zeros([2]), 1.0).numpy().tolist() == [0, 0]
    (x, none), length = tf.clip_by_global_norm([a, None], 1.0)
    assert none is None
    assert_close(tf.linalg.global_norm([x]), np.float64(1))
    assert_close(length, np.linalg.norm(a))
    unclipped, _ = tf.clip_by_global_norm([a], 1e6)
    assert_close(unclipped[0], a)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2), (2, 3, 3), (2, 3, 5)])
def test_diagonals_and_triangles(shape):
    a = sample("float32", shape)
    diagonal = np.diagonal(a, axis1=-2, axis2=-1)
    assert_close(tf.linalg.diag_part(a), diagonal)
    assert_close(tf.linalg.trace(a), diagonal.sum(-1), rtol=1e-5)
    assert_close(tf.linalg.band_part(a, -1, 0), np.tril(a))
    assert_close(tf.linalg.band_part(a, 0, -1), np.triu(a))
    assert_close(tf.linalg.band_part(a, 1, 1), np.triu(np.tril(a, 1), -1))
    replaced = np.array(a)
    for i in range(min(shape[-2:])):
        replaced[..., i, i] = 9
    assert_close(tf.linalg.set_diag(a, np.full_like(diagonal, 9)), replaced)
    assert_close(tf.linalg.matrix_transpose(a), np.swapaxes(a, -1, -2))
    square = tf.linalg.diag(diagonal).numpy()
    np.testing.assert_array_equal(np.diagonal(square, axis1=-2, axis2=-1), diagonal)
    assert np.count_nonzero(square) == np.count_nonzero(diagonal)


def test_other_linalg():
    v = sample("float64", (2, 3))
    assert_close(tf.linalg.cross(v, v[::-1]), np.cross(v, v[::-1]))
    z = np.array([[1 + 2j, 3]])
    assert_close(tf.linalg.adjoint(z), z.conj().T)
    d = tf.linalg.tensor_diag([[1, 2]])
    assert d.shape == (1, 2, 1, 2) and tf.linalg.tensor_diag_part(d).numpy().tolist() == [[1, 2]]
    for bad in (lambda: tf.linalg.trace([1.0]), lambda: tf.linalg.band_part([[1.0]], 5, 0),
                lambda: tf.linalg.set_diag([[1.0]], [1.0, 2.0]),
                lambda: tf.linalg.cross([1.0, 2.0], [1.0, 2.0])):  # fmt: skip
        with pytest.raises(tf.errors.InvalidArgumentError):
            bad()
            tf.test.experimental.sync_devices()
    assert_close(tf.linalg.diag([1.0, 2.0], k=1), np.diag(np.float32([1, 2]), 1))
    assert_close(tf.linalg.diag_part(np.eye(3), k=-1), np.zeros(2))
