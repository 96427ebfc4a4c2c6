"""Operations on sparse matrices of compressed rows, behind handles: sparse tensors in order."""

from __future__ import annotations

import tidemark as tf
from tidemark._tensorflow.raw.handles import held, variant
from tidemark.sparse import _products


def _of(handle):
    return held(handle, tf.SparseTensor)


def _made(sparse):
    return variant(tf.sparse.reorder(sparse))


def _from_dense(dense_input, indices):
    values = tf.gather_nd(dense_input, indices)
    return _made(tf.SparseTensor(indices, values, tf.shape(dense_input, tf.int64)))


def _from_sparse(indices, values, dense_shape):
    return _made(tf.SparseTensor(indices, values, dense_shape))


def _parts(sparse_matrix, **_):
    found = _of(sparse_matrix)
    return [found.indices, found.values, found.dense_shape]


def _components(csr_sparse_matrix, index, **_):
    """Where rows begin, columns and values, of one matrix of the batch."""
    found = _of(csr_sparse_matrix)
    indices, values, shape = found.indices, found.values, found.dense_shape
    if shape.shape[0] == 3:
        mine = tf.reshape(tf.where(indices[:, 0] == tf.cast(index, tf.int64)), [-1])
        indices, values, shape = tf.gather(indices, mine)[:, 1:], tf.gather(values, mine), shape[1:]
    rows = tf.range(shape[0] + 1, dtype=tf.int64)
    starts = tf.searchsorted(indices[:, 0], rows, out_type=tf.int32)
    return [starts, tf.cast(indices[:, 1], tf.int32), values]


def _product(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, transpose_output,
             conjugate_output):  # fmt: skip
    made = tf.matmul(tf.sparse.to_dense(_of(a)), b, transpose_a, transpose_b, adjoint_a, adjoint_b)
    if transpose_output:
        made = tf.linalg.matrix_transpose(made)
    return tf.math.conj(made) if conjugate_output else made


def _sparse_product(a, b, type, transpose_a, transpose_b, adjoint_a, adjoint_b):
    made = _products.sparse_matrix_sparse_mat_mul(
        _of(a), _of(b), type, transpose_a, transpose_b, adjoint_a, adjoint_b
    )
    return _made(made)


def _transposed(input, conjugate, **_):
    found = _of(input)
    rank = found.dense_shape.shape[0]
    swapped = tf.sparse.transpose(found, [*range(rank - 2), rank - 1, rank - 2])
    if conjugate:
        swapped = tf.SparseTensor(
            swapped.indices, tf.math.conj(swapped.values), swapped.dense_shape
        )
    return _made(swapped)


def _count(sparse_matrix):
    found = _of(sparse_matrix)
    if found.dense_shape.shape[0] == 2:
        return tf.size(found.values)
    batch = tf.cast(found.dense_shape[0], tf.int32)
    return tf.math.bincount(tf.cast(found.indices[:, 0], tf.int32), minlength=batch)


WRITTEN = {
    "CSRSparseMatrixComponents": _components,
    "CSRSparseMatrixToDense": lambda sparse_input, **_: tf.sparse.to_dense(_of(sparse_input)),
    "CSRSparseMatrixToSparseTensor": _parts,
    "DenseToCSRSparseMatrix": _from_dense,
    "SparseMatrixMatMul": _product,
    "SparseMatrixNNZ": _count,
    "SparseMatrixSparseMatMul": _sparse_product,
    "SparseMatrixTranspose": _transposed,
    "SparseTensorToCSRSparseMatrix": _from_sparse,
}
