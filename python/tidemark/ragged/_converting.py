"""Ragged tensors from and to dense and sparse ones."""

from __future__ import annotations

from tidemark import dtypes
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tensor.static import known_rank
from tidemark._tidemark import Tensor, call, convert, is_symbolic
from tidemark.ragged._row_partition import RowPartition
from tidemark.ragged._tensor import RaggedTensor, length_of
from tidemark.tensor_shape import as_shape

_INT64 = dtypes.int64._enum


def bounding_sizes(ragged):
    """The smallest dense shape that holds all rows: Python numbers, or tensors of the graph that
    is being built where only the run tells."""
    return _ragged_sizes(ragged) + _inner_sizes(ragged.flat_values)


def _ragged_sizes(ragged):
    """The number of rows and, of each ragged dimension, the length of the longest."""
    sizes = [length_of(ragged)]
    while isinstance(ragged, RaggedTensor):
        sizes.append(_longest(ragged.row_lengths()))
        ragged = ragged.values
    return sizes


def _longest(lengths):
    if not is_symbolic(lengths):
        return int(call("max", (lengths,), {})) if lengths.shape[0] else 0
    at_least_none = call("pad", (cast(lengths, dtypes.int64), [[1, 0]], 0), {})
    return call("max", (at_least_none,), {})


def _inner_sizes(values):
    """The sizes of the innermost values, without the first."""
    known_rank(values)
    known = values.shape.as_list()[1:]
    if None not in known:
        return known
    sizes = call("shape", (values,), {"out_type": _INT64})
    return [sizes[i] if size is None else size for i, size in enumerate(known, 1)]


def sizes_as_tensor(sizes):
    """One int64 tensor of numbers and scalars."""
    if not any(isinstance(size, Tensor) for size in sizes):
        return convert(sizes, _INT64)
    return call("stack", ([convert(size, _INT64) for size in sizes],), {"axis": 0})


def places_of_values(ragged):
    """For each innermost value its coordinates in the ragged dimensions, one tensor a dimension."""
    places = [cast(ragged._row_partition.value_rowids(), dtypes.int64)]
    places.append(cast(ragged._row_partition.offsets_in_rows(), dtypes.int64))
    inner = ragged.values
    while isinstance(inner, RaggedTensor):
        rowids = inner._row_partition.value_rowids()
        places = [call("gather", (place, rowids), {"axis": 0}) for place in places]
        places.append(cast(inner._row_partition.offsets_in_rows(), dtypes.int64))
        inner = inner.values
    return places


def to_tensor(ragged, default_value, shape):
    """A dense tensor; rows are filled up, or cut off where a shape says so."""
    from tidemark.sparse._layout import _by_position  # it imports this module
    from tidemark.sparse._tensor import SparseTensor  # it imports this module

    depth = ragged.ragged_rank + 1
    values = ragged.flat_values
    places = call("stack", (places_of_values(ragged),), {"axis": 1})
    if values.shape.rank is None and shape is None:
        return _dense_of_any_rank(ragged, places, default_value)
    sizes = bounding_sizes(ragged)
    if shape is not None:
        wanted = as_shape(shape)
        if wanted.rank is not None:
            sizes = [s if w is None else w for s, w in zip(sizes, wanted.as_list(), strict=True)]
            inside = places < sizes_as_tensor(sizes[:depth])
            inside = call("all", (inside,), {"axis": [1]})
            places = call("boolean_mask", (places, inside), {})
            values = call("boolean_mask", (values, inside), {})
    default = _filling(ragged, default_value)
    if ragged.dtype is dtypes.string and values.shape.rank == 1:
        dense = _by_position(SparseTensor(places, values, sizes_as_tensor(sizes)), default)
    else:
        base = call("broadcast_to", (default, sizes_as_tensor(sizes)), {})
        dense = call("tensor_scatter_nd_update", (base, places, values), {})
    dense.set_shape([None if isinstance(size, Tensor) else size for size in sizes])
    return dense


def _filling(ragged, default_value):
    if default_value is None:
        default_value = "" if ragged.dtype is dtypes.string else 0
    return convert(default_value, ragged.dtype._enum)


def _dense_of_any_rank(ragged, places, default_value):
    """A dense tensor of a ragged one whose innermost values may have any number of dimensions."""
    values = ragged.flat_values
    inner = call("shape", (values,), {"out_type": _INT64})[1:]
    sizes = call("concat", ([sizes_as_tensor(_ragged_sizes(ragged)), inner],), {"axis": 0})
    base = call("broadcast_to", (_filling(ragged, default_value), sizes), {})
    return call("tensor_scatter_nd_update", (base, places, values), {})


def to_sparse(ragged):
    """A sparse tensor of the innermost values at their places."""
    from tidemark.sparse._tensor import SparseTensor  # it imports this module

    values = ragged.flat_values
    places = places_of_values(ragged)
    shape = sizes_as_tensor(bounding_sizes(ragged))
    if values.shape.rank > 1:
        rest = values.shape.as_list()[1:]
        inner = _all_places(rest)
        count, size = values.shape[0], inner.shape[0]
        outer = call("stack", (places,), {"axis": 1})
        outer = call("repeat", (outer, convert(size, _INT64)), {"axis": 0})
        inner = call("tile", (inner, [count, 1]), {})
        indices = call("concat", ([outer, inner],), {"axis": 1})
        return SparseTensor(indices, call("reshape", (values, (-1,)), {}), shape)
    return SparseTensor(call("stack", (places,), {"axis": 1}), values, shape)


def _all_places(sizes):
    from tidemark.sparse._layout import places_at  # it imports this module

    total = 1
    for size in sizes:
        total *= size
    flat = call("range", (convert(0, _INT64), total, 1), {})
    return places_at(flat, convert(sizes, _INT64))


def from_tensor(tensor, lengths, padding, ragged_rank, row_splits_dtype):
    """Rows of a dense tensor, perhaps without their tails."""
    tensor = convert_to_tensor(tensor)
    rank = tensor.shape.rank
    if lengths is not None and padding is not None:
        raise ValueError("Specify lengths or padding, but not both")
    if rank is not None and rank < 2:
        raise ValueError(f"the rank of the tensor must be greater than 1, got shape {tensor.shape}")
    if not isinstance(ragged_rank, int) or not 0 < ragged_rank < (rank or ragged_rank + 1):
        raise ValueError(f"ragged_rank must be greater than 0 and less than {rank}: {ragged_rank}")
    if isinstance(lengths, (list, tuple)) and lengths and not isinstance(lengths[0], int):
        return _from_nested_lengths(tensor, lengths)
    if ragged_rank > 1:
        flat = call("reshape", (tensor, sizes_as_tensor([-1, *_inner_sizes(tensor)[1:]])), {})
        if lengths is not None:
            flat_lengths = call("reshape", (lengths, (-1,)), {})
            inner = from_tensor(flat, flat_lengths, None, ragged_rank - 1, row_splits_dtype)
        else:
            inner = from_tensor(flat, None, padding, ragged_rank - 1, row_splits_dtype)
        return _uniform(inner, _inner_sizes(tensor)[0], length_of(tensor), row_splits_dtype)
    if padding is not None:
        lengths = _unpadded_lengths(tensor, padding)
    if lengths is None:
        return _uniform(*_rows_in_one(tensor), length_of(tensor), row_splits_dtype)
    lengths = cast(lengths, row_splits_dtype)
    width = convert(cast(_inner_sizes(tensor)[0], lengths.dtype), lengths.dtype._enum)
    lengths = call("clip_by_value", (lengths, 0, width), {})
    column = call("range", (convert(0, lengths.dtype._enum), width, 1), {})
    mask = column < call("expand_dims", (lengths,), {"axis": 1})
    return RaggedTensor.from_row_lengths(call("boolean_mask", (tensor, mask), {}), lengths)


def _rows_in_one(tensor):
    """The elements of all rows one after the other, and how many a row has."""
    if tensor.shape.rank is not None:
        width, *inner = _inner_sizes(tensor)
        return call("reshape", (tensor, sizes_as_tensor([-1, *inner])), {}), width
    sizes = call("shape", (tensor,), {"out_type": _INT64})
    shape = call("concat", ([convert([-1], _INT64), sizes[2:]],), {"axis": 0})
    return call("reshape", (tensor, shape), {}), sizes[1]


def _uniform(values, length, count, row_splits_dtype):
    rows = RowPartition.from_uniform_row_length(
        length, length_of(values), count, dtype=row_splits_dtype
    )
    return RaggedTensor._from_row_partition(values, rows)


def _unpadded_lengths(tensor, padding):
    """For each row how long it is without the padding at its end."""
    padding = convert(padding, tensor.dtype._enum)
    is_value = call("not_equal", (tensor, padding), {})
    extra = list(range(2, tensor.shape.rank))
    if extra:
        is_value = call("any", (is_value,), {"axis": extra})
    width = cast(_inner_sizes(tensor)[0], dtypes.int32)
    marked = cast(is_value, dtypes.int32) * call("range", (1, width + 1, 1), {})
    padded = call("pad", (marked, [[0, 0], [1, 0]], 0), {})
    return call("max", (padded,), {"axis": [1]})


def _from_nested_lengths(tensor, lengths):
    result = from_tensor(tensor, lengths[0], None, 1, dtypes.int64)
    if len(lengths) == 1:
        return result
    return result.with_values(_from_nested_lengths(result.values, lengths[1:]))


def merge_dims(ragged, outer_axis, inner_axis):
    """The dimensions from one axis to another as one."""
    rank = ragged.shape.rank
    outer = outer_axis + rank if outer_axis < 0 else outer_axis
    inner = inner_axis + rank if inner_axis < 0 else inner_axis
    if outer > inner:
        raise ValueError(f"Expected outer_axis ({outer}) to be at most inner_axis ({inner})")
    if outer == inner:
        return ragged
    if outer == 1 and isinstance(ragged.values, RaggedTensor):
        inner_rows = ragged.values
        splits = call("gather", (inner_rows.row_splits, ragged.row_splits), {"axis": 0})
        merged = RaggedTensor.from_row_splits(inner_rows.values, splits, validate=False)
        return merge_dims(merged, 1, inner - 1)
    if outer > 0:
        if isinstance(ragged.values, RaggedTensor):
            return ragged.with_values(merge_dims(ragged.values, outer - 1, inner - 1))
        sizes = ragged.values.shape.as_list()
        merged = [*sizes[: outer - 1], -1, *sizes[inner:]]
        return ragged.with_values(call("reshape", (ragged.values, merged), {}))
    result = ragged
    for left in range(inner, 0, -1):
        if isinstance(result, RaggedTensor):
            result = result.values
        else:
            sizes = result.shape.as_list()
            return call("reshape", (result, [-1, *sizes[left + 1 :]]), {})
    return result
