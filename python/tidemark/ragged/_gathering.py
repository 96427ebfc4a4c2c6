"""``tf.gather`` where the tensor, the indices or both are ragged."""

from __future__ import annotations

from tidemark._tidemark import call, convert
from tidemark.ragged._indexing import take
from tidemark.ragged._tensor import RaggedTensor, as_values


def gather(params, indices, validate_indices=None, axis=None, batch_dims=0):
    """Parts of a tensor along an axis, in the rows of the indices."""
    params, indices = as_values(params), as_values(indices)
    batch_dims, axis = int(batch_dims), batch_dims if axis is None else int(axis)
    if params.shape.rank is None or indices.shape.rank is None:
        raise ValueError("rank(params) and rank(indices) must be known statically")
    if axis < 0:
        axis += params.shape.rank
    if batch_dims < 0:
        batch_dims += indices.shape.rank
    if not 0 <= batch_dims <= min(axis, indices.shape.rank):
        raise ValueError(
            f"batch_dims={batch_dims} must be at most axis={axis} and the rank of indices, "
            f"{indices.shape.rank}"
        )
    return _gathered(params, indices, axis, batch_dims)


def _gathered(params, indices, axis, batch_dims):
    if not isinstance(params, RaggedTensor) and not isinstance(indices, RaggedTensor):
        return call("gather", (params, indices), {"axis": axis, "batch_dims": batch_dims})
    if batch_dims:
        return _of_batches(params, indices, axis, batch_dims)
    if axis:
        params = _rows(params)
    if axis > 1:
        return params.with_values(_gathered(params.values, indices, axis - 1, 0))
    if axis == 1:
        return _of_each_row(params, indices)
    if isinstance(indices, RaggedTensor):
        return indices.with_values(_gathered(params, indices.values, 0, 0))
    if indices.shape.rank > 1:
        return _gathered(params, RaggedTensor.from_tensor(indices), 0, 0)
    if indices.shape.rank == 0:
        row = take(params, call("reshape", (indices, [1]), {}))
        return row.values
    return take(params, indices)


def _rows(value):
    """A tensor with at least its first rows ragged."""
    if isinstance(value, RaggedTensor) or value.shape.rank < 2:
        return value
    return RaggedTensor.from_tensor(value)


def _of_batches(params, indices, axis, batch_dims):
    """Each row of the indices is looked up in its row of the tensor."""
    params, indices = _rows(params), _rows(indices)
    if batch_dims > 1:
        inner = _gathered(params.values, indices.values, axis - 1, batch_dims - 1)
        return indices.with_values(inner)
    if axis > 1:  # every row inside a row of the tensor is looked up with that row's indices
        repeated = _gathered(indices, params.value_rowids(), 0, 0)
        return params.with_values(_gathered(params.values, repeated, axis - 1, 1))
    if not isinstance(indices, RaggedTensor):  # one index a row
        return _gathered(params.values, params.row_starts() + _as_starts(indices, params), 0, 0)
    starts = call("gather", (params.row_starts(), indices.value_rowids()), {"axis": 0})
    inner = indices.values
    if inner.shape.rank > 1:
        starts = call("reshape", (starts, [-1] + [1] * (inner.shape.rank - 1)), {})
    moved = _as_starts(inner, params) + starts
    return indices.with_values(_gathered(params.values, moved, 0, 0))


def _of_each_row(params, indices):
    """The same indices looked up in every row of the tensor."""
    starts = params.row_starts()
    if isinstance(indices, RaggedTensor):
        flat = _of_each_row(params, indices.flat_values)  # and then the indices' rows, every time
        return _in_rows_of(indices, params, flat)
    starts = call("reshape", (starts, [-1] + [1] * indices.shape.rank), {})
    return _gathered(params.values, starts + _as_starts(indices, params), 0, 0)


def _in_rows_of(indices, params, flat):
    """What was found for all indices of every row, cut as the indices are."""
    count = params.nrows()
    inner = flat.values if isinstance(flat, RaggedTensor) else _merged(flat)
    times = call("reshape", (count, [1]), {})
    for lengths in reversed(indices.nested_row_lengths()):
        lengths = call("tile", (_as_starts(lengths, params), times), {})
        inner = RaggedTensor.from_row_lengths(inner, lengths, validate=False)
    return RaggedTensor.from_uniform_row_length(inner, indices.nrows(), count, validate=False)


def _merged(tensor):
    """The first two dimensions of a tensor as one."""
    sizes = call("shape", (tensor,), {})
    return call("reshape", (tensor, call("concat", ([[-1], sizes[2:]],), {"axis": 0})), {})


def _as_starts(indices, params):
    """The indices in the integers of the tensor's row splits."""
    number = params.row_splits.dtype
    if isinstance(indices, RaggedTensor):
        return indices.with_flat_values(_as_starts(indices.flat_values, params))
    if indices.dtype == number:
        return indices
    return call("cast", (convert(indices),), {"dtype": number})
