"""``tensorflow.python.ops.linalg.sparse.sparse``: sparse matrices and their products."""

from __future__ import annotations

import tidemark as tf
from tidemark.sparse import _products


class CSRSparseMatrix:
    """A sparse matrix, or a batch of them: a sparse tensor whose elements are in order."""

    def __init__(self, value, indices=None, name=None):
        if not isinstance(value, tf.SparseTensor):
            value = tf.sparse.from_dense(value)
        self._tensor = tf.sparse.reorder(value)

    dtype = property(lambda self: self._tensor.dtype)
    shape = property(lambda self: self._tensor.shape)

    def to_sparse_tensor(self):
        return self._tensor

    def to_dense(self):
        return tf.sparse.to_dense(self._tensor)


def _dense_of(value):
    return value.to_dense() if isinstance(value, CSRSparseMatrix) else tf.convert_to_tensor(value)


def matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, name=None):
    """The product: sparse if both are, dense otherwise."""
    if isinstance(a, CSRSparseMatrix) and isinstance(b, CSRSparseMatrix):
        made = _products.sparse_matrix_sparse_mat_mul(
            a.to_sparse_tensor(), b.to_sparse_tensor(), a.dtype, transpose_a, transpose_b,
            adjoint_a, adjoint_b,
        )  # fmt: skip
        return CSRSparseMatrix(made)
    if isinstance(a, CSRSparseMatrix) and a.shape.rank == 2 and not (transpose_a or transpose_b):
        return tf.sparse.sparse_dense_matmul(a.to_sparse_tensor(), b, adjoint_a, adjoint_b)
    return tf.matmul(_dense_of(a), _dense_of(b), transpose_a, transpose_b, adjoint_a, adjoint_b)
