"""Decompositions of matrices and what is made of them: ``tf.linalg.svd``, ``pinv``, ``lstsq``, …"""

from __future__ import annotations

from typing import NamedTuple

from tidemark import dtypes
from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import cast, convert_to_tensor, eye
from tidemark._tensor.static import larger, sizes_of
from tidemark._tidemark import Tensor, call
from tidemark.errors import UnimplementedError


class Lu(NamedTuple):
    """Packed factors and permutation of an LU decomposition."""

    lu: Tensor
    p: Tensor


class LogMatrixDeterminant(NamedTuple):
    """Sign and logarithm of the absolute value of a determinant."""

    sign: Tensor
    log_abs_determinant: Tensor


@export("tf.linalg.svd")
def svd(tensor, full_matrices=False, compute_uv=True, name=None):
    """Singular values, and the vectors ``u`` and ``v`` unless they are not wanted."""
    attrs = {"full_matrices": bool(full_matrices), "compute_uv": bool(compute_uv)}
    s, u, v = call("svd", (tensor,), attrs)
    return (s, u, v) if compute_uv else s


@export("tf.linalg.slogdet")
def slogdet(input, name=None):
    """Sign and logarithm of the absolute value of the determinant."""
    return LogMatrixDeterminant(*call("log_matrix_determinant", (input,), {}))


@export("tf.linalg.logdet")
def logdet(matrix, name=None):
    """Logarithm of the determinant of positive definite matrices."""
    factor = call("cholesky", (matrix,), {})
    diagonal = call("real", (call("diag_part", (factor,), {}),), {})
    return 2.0 * call("sum", (call("log", (diagonal,), {}),), {"axis": [-1]})


@export("tf.linalg.lu")
def lu(input, output_idx_type=dtypes.int32, name=None):
    """Packed factors ``lu`` and the permutation ``p`` with ``input[p] = L U``."""
    return Lu(*call("lu", (input,), {"output_idx_type": output_idx_type}))


def _unpacked(lower_upper):
    lower = call("band_part", (lower_upper, -1, 0), {})
    ones = call("ones_like", (call("diag_part", (lower_upper,), {}),), {})
    return call("set_diag", (lower, ones), {}), call("band_part", (lower_upper, 0, -1), {})


def _rows_taken(matrix, rows):
    return call("gather", (matrix, rows), {"axis": matrix.ndim - 2, "batch_dims": matrix.ndim - 2})


@export("tf.linalg.lu_reconstruct")
def lu_reconstruct(lower_upper, perm, validate_args=False, name=None):
    """The matrix whose decomposition is given."""
    lower, upper = _unpacked(convert_to_tensor(lower_upper))
    product = call("matmul", (lower, upper), {})
    return _rows_taken(product, call("argsort", (perm,), {}))


@export("tf.linalg.lu_solve")
def lu_solve(lower_upper, perm, rhs, validate_args=False, name=None):
    """Solves ``A x = rhs`` with the decomposition of ``A``."""
    lower, upper = _unpacked(convert_to_tensor(lower_upper))
    permuted = _rows_taken(convert_to_tensor(rhs), perm)
    half = call("triangular_solve", (lower, permuted), {"lower": True})
    return call("triangular_solve", (upper, half), {"lower": False})


@export("tf.linalg.lu_matrix_inverse")
def lu_matrix_inverse(lower_upper, perm, validate_args=False, name=None):
    """The inverse of the matrix whose decomposition is given."""
    lower_upper = convert_to_tensor(lower_upper)
    *batch, rows, _ = sizes_of(lower_upper)
    unit = eye(rows, batch_shape=batch, dtype=lower_upper.dtype)
    return lu_solve(lower_upper, perm, unit)


@export("tf.linalg.cholesky_solve")
@sized_when_run
def cholesky_solve(chol, rhs, name=None):
    """Solves ``A x = rhs`` with the Cholesky decomposition of ``A``."""
    half = call("triangular_solve", (chol, rhs), {"lower": True})
    return call("triangular_solve", (chol, half), {"lower": True, "adjoint": True})


@export("tf.linalg.lstsq")
@sized_when_run
def lstsq(matrix, rhs, l2_regularizer=0.0, fast=True, name=None):
    """The ``x`` with the least ``|matrix x - rhs|² + l2_regularizer |x|²``."""
    matrix, rhs = convert_to_tensor(matrix), convert_to_tensor(rhs)
    if not fast:
        if l2_regularizer:
            raise UnimplementedError(
                None, None, "[lstsq] with l2_regularizer needs fast=True; it was False"
            )
        return call("matmul", (pinv(matrix), rhs), {})
    *batch, rows, columns = sizes_of(matrix)
    wide = rows < columns
    gram = call("matmul", (matrix, matrix), {"adjoint_b": True} if wide else {"adjoint_a": True})
    if l2_regularizer:
        unit = eye(min(rows, columns), batch_shape=batch, dtype=matrix.dtype)
        gram = gram + unit * convert_to_tensor(l2_regularizer, dtype=matrix.dtype)
    factor = call("cholesky", (gram,), {})
    if wide:
        return call("matmul", (matrix, cholesky_solve(factor, rhs)), {"adjoint_a": True})
    return cholesky_solve(factor, call("matmul", (matrix, rhs), {"adjoint_a": True}))


def _epsilon(dtype):
    return 2.0**-23 if dtype.size == (8 if dtype.is_complex else 4) else 2.0**-52


def _largest_size(matrix, dtype):
    """The larger of the numbers of rows and columns, as a scalar."""
    if matrix.shape.rank is None:
        return cast(call("max", (call("shape", (matrix,), {})[-2:],), {}), dtype)
    rows, columns = sizes_of(matrix)[-2:]
    return cast(larger(rows, columns), dtype)


@export("tf.linalg.matrix_rank")
def matrix_rank(a, tol=None, validate_args=False, name=None):
    """The number of singular values above a tolerance."""
    a = convert_to_tensor(a)
    values = svd(a, compute_uv=False)
    if tol is None:
        largest = call("max", (values,), {"axis": [-1], "keepdims": True})
        limit = largest * (_largest_size(a, values.dtype) * _epsilon(a.dtype))
    else:
        limit = convert_to_tensor(tol, dtype=values.dtype)
        limit = call("expand_dims", (limit,), {"axis": -1}) if limit.ndim else limit
    above = call("cast", (call("greater", (values, limit), {}),), {"dtype": "int32"})
    return call("sum", (above,), {"axis": [-1]})


@export("tf.linalg.pinv")
def pinv(a, rcond=None, validate_args=False, name=None):
    """The pseudo-inverse: small singular values count as zero."""
    a = convert_to_tensor(a)
    s, u, v = svd(a)
    if rcond is None:
        rcond = _largest_size(a, s.dtype) * (10.0 * _epsilon(a.dtype))
    largest = call("max", (s,), {"axis": [-1], "keepdims": True})
    rcond = convert_to_tensor(rcond, dtype=s.dtype)
    limit = largest * (call("expand_dims", (rcond,), {"axis": -1}) if rcond.ndim else rcond)
    inverse = call("select", (call("greater", (s, limit), {}), 1.0 / s, s * 0.0), {})
    scale = call("expand_dims", (call("cast", (inverse,), {"dtype": a.dtype}),), {"axis": -2})
    return call("matmul", (v * scale, u), {"adjoint_b": True})
