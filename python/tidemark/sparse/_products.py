"""The product of two sparse matrices, or of two batches of them."""

from __future__ import annotations

import collections

from tidemark import dtypes
from tidemark._tensor.creation import cast
from tidemark._tensor.static import known_rank
from tidemark._tidemark import call, convert
from tidemark.errors import InvalidArgumentError
from tidemark.sparse._combining import _merged
from tidemark.sparse._layout import flat_places, in_order
from tidemark.sparse._tensor import SparseTensor

_INT64 = dtypes.int64._enum
Components = collections.namedtuple(
    "CSRSparseMatrixToSparseTensor", ["indices", "values", "dense_shape"]
)


def sparse_tensor_to_csr_sparse_matrix(indices, values, dense_shape, name=None):
    """A sparse tensor from its parts, its elements in order."""
    return in_order(indices, values, dense_shape)


def csr_sparse_matrix_to_sparse_tensor(sparse_matrix, type, name=None):
    """The parts of a sparse tensor."""
    return Components(
        sparse_matrix.indices, cast(sparse_matrix.values, type), sparse_matrix.dense_shape
    )


def sparse_matrix_sparse_mat_mul(
    a, b, type, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, name=None
):
    """``a @ b``: each element of ``a`` meets the elements of its row of ``b``."""
    a = _turned(a, transpose_a, adjoint_a)
    b = _turned(b, transpose_b, adjoint_b)
    sizes_a, sizes_b = a.dense_shape, b.dense_shape
    if a.shape[-1] != b.shape[-2] or a.shape[:-2] != b.shape[:-2]:
        raise InvalidArgumentError(
            None, None, f"[sparse matmul] cannot multiply shapes {a.shape} and {b.shape}"
        )
    # Rows of b, numbered over the whole batch, are runs of its ordered elements.
    rows_of_b = flat_places(b.indices[:, :-1], sizes_b[:-1])
    batch = a.indices[:, :-2]
    inner = call("concat", ([batch, a.indices[:, -1:]],), {"axis": 1})
    wanted = flat_places(inner, sizes_b[:-1])
    first = _position(rows_of_b, wanted, "left")
    lengths = _position(rows_of_b, wanted, "right") - first
    count = call("size", (a.values,), {})
    of_a = call("repeat", (call("range", (0, count, 1), {}), lengths), {"axis": 0})
    run = call("cumsum", (lengths,), {"axis": 0, "exclusive": True})
    total = call("size", (of_a,), {"out_type": _INT64})
    step = call("range", (convert(0, _INT64), total, convert(1, _INT64)), {})
    of_b = step - call("gather", (run - first, of_a), {"axis": 0})
    values = call("gather", (a.values, of_a), {"axis": 0})
    values = values * call("gather", (b.values, of_b), {"axis": 0})
    place = [
        call("gather", (a.indices[:, :-1], of_a), {"axis": 0}),
        call("gather", (b.indices[:, -1:], of_b), {"axis": 0}),
    ]
    shape = call("concat", ([sizes_a[:-1], sizes_b[-1:]],), {"axis": 0})
    terms = SparseTensor(call("concat", (place,), {"axis": 1}), values, shape)
    return _merged([terms], "sum")


def _position(ordered, wanted, side):
    found = call("searchsorted", (ordered, wanted), {"side": side})
    return cast(found, dtypes.int64)


def _turned(matrix, transposed, adjoint):
    if not transposed and not adjoint:
        return matrix
    rank = known_rank(matrix)
    order = [*range(rank - 2), rank - 1, rank - 2]
    indices = call("gather", (matrix.indices, order), {"axis": 1})
    values = matrix.values
    if adjoint and matrix.dtype.is_complex:
        values = call("conj", (values,), {})
    return in_order(indices, values, call("gather", (matrix.dense_shape, order), {"axis": 0}))
