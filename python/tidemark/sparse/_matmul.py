"""Products of sparse with dense matrices, and rows of a table picked and summed."""

from __future__ import annotations

from tidemark import dtypes
from tidemark._export import export
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tidemark import call, convert, is_symbolic, static_value
from tidemark.errors import InvalidArgumentError
from tidemark.sparse._layout import as_sparse
from tidemark.sparse._tensor import SparseTensor, SparseTensorValue

_SPARSE = (SparseTensor, SparseTensorValue)


@export("tf.sparse.sparse_dense_matmul")
def sparse_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None):
    """``a @ b`` with one of both sparse; ``adjoint_*`` takes the conjugate transpose."""
    if isinstance(b, _SPARSE):  # a @ b = (bᴴ @ aᴴ)ᴴ
        product = sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a)
        return _adjoint(product)
    sparse, b = as_sparse(sp_a), convert_to_tensor(b)
    if adjoint_b:
        b = _adjoint(b)
    row, column = sparse.indices[:, 0], sparse.indices[:, 1]
    values, sizes = sparse.values, sparse.dense_shape
    if adjoint_a:
        row, column, sizes = column, row, sizes[::-1]
        values = call("conj", (values,), {}) if sparse.dtype.is_complex else values
    _check_sizes(sizes, b)
    weights = call("expand_dims", (values,), {"axis": 1})
    picked = call("gather", (b, column), {"axis": 0}) * weights
    return call("unsorted_segment_sum", (picked, row, sizes[0]), {})


def _adjoint(matrix):
    turned = call("transpose", (matrix,), {"perm": [1, 0]})
    return call("conj", (turned,), {}) if matrix.dtype.is_complex else turned


def _check_sizes(sizes, b):
    if b.shape.rank != 2:
        raise InvalidArgumentError(
            None, None, f"[sparse_dense_matmul] b must be a matrix, got shape {b.shape}"
        )
    if is_symbolic(sizes):
        sizes = static_value(sizes)
        if sizes is None:
            return  # the op checks when it runs
    inner = sizes.numpy().tolist()[1]
    if b.shape[0] not in (None, inner):
        raise InvalidArgumentError(
            None,
            None,
            f"[sparse_dense_matmul] cannot multiply: inner dimension of a is {inner}, of b "
            f"{b.shape[0]}",
        )


@export("tf.sparse.sampled_addmm")
def sampled_addmm(indices, values, dense_shape, mat1, mat2, beta=1.0, alpha=1.0,
                  output_type=dtypes.float32):  # fmt: skip
    """``alpha * mat1 @ mat2 + beta * values`` at the given places alone."""
    indices = convert(indices, dtypes.int64._enum)
    row = call("gather", (mat1, indices[:, 0]), {"axis": 0})
    turned = call("transpose", (mat2,), {"perm": [1, 0]})
    column = call("gather", (turned, indices[:, 1]), {"axis": 0})
    product = call("sum", (row * column,), {"axis": [1]})
    total = product * alpha + convert_to_tensor(values) * beta
    return indices, cast(total, output_type), convert(dense_shape, dtypes.int64._enum)


# --- rows of a table, picked and reduced by segment ----------------------------------------------


def _segments(data, indices, segment_ids, num_segments, reduce):
    rows = call("gather", (data, indices), {"axis": 0})
    if num_segments is None:
        return call(f"segment_{reduce}", (rows, segment_ids), {})
    return call(f"unsorted_segment_{reduce}", (rows, segment_ids, num_segments), {})


def _counts(like, segment_ids, num_segments):
    """How many rows each segment has, at least one, in the shape that divides the sums."""
    ids = convert_to_tensor(segment_ids)
    ones = call("ones_like", (ids,), {"dtype": like.dtype._enum})
    if num_segments is None:
        counts = call("segment_sum", (ones, ids), {})
    else:
        counts = call("unsorted_segment_sum", (ones, ids, num_segments), {})
    counts = call("maximum", (counts, 1), {})
    return call("reshape", (counts, [-1] + [1] * (like.shape.rank - 1)), {})


@export("tf.sparse.segment_sum")
def segment_sum(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
    """Sums of picked rows by segment."""
    return _segments(data, indices, segment_ids, num_segments, "sum")


@export("tf.sparse.segment_mean")
def segment_mean(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
    """Means of picked rows by segment."""
    total = _segments(data, indices, segment_ids, num_segments, "sum")
    return total / _counts(total, segment_ids, num_segments)


@export("tf.sparse.segment_sqrt_n")
def segment_sqrt_n(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
    """Sums of picked rows by segment, divided by the square root of how many they are."""
    total = _segments(data, indices, segment_ids, num_segments, "sum")
    counts = _counts(total, segment_ids, num_segments)
    return total / call("sqrt", (counts,), {})
