"""Sums, maxima, softmax and counts over sparse tensors."""

from __future__ import annotations

from tidemark import dtypes
from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import cast, convert_to_tensor, fill
from tidemark._tensor.static import known_rank
from tidemark._tidemark import call, convert, is_symbolic
from tidemark.errors import InvalidArgumentError
from tidemark.ragged._row_partition import check_that
from tidemark.ragged._tensor import sizes_of
from tidemark.sparse._layout import as_sparse, flat_places, places_at
from tidemark.sparse._tensor import SparseTensor, SparseTensorValue

_INT64 = dtypes.int64._enum


def _reduced(sp_input, axis, keepdims, output_is_sparse, reduce):
    sparse = as_sparse(sp_input)
    rank = known_rank(sparse)
    gone = _axes(axis, rank)
    kept = [d for d in range(rank) if d not in gone]
    places = call("gather", (sparse.indices, convert(kept, _INT64)), {"axis": 1})
    sizes = call("gather", (sparse.dense_shape, convert(kept, _INT64)), {"axis": 0})
    flat = flat_places(places, sizes)
    order = call("argsort", (flat,), {"stable": True})
    flat, group = call("unique", (call("gather", (flat, order), {"axis": 0}),), {})
    count = call("size", (flat,), {})
    values = call("gather", (sparse.values, order), {"axis": 0})
    values = call(f"unsorted_segment_{reduce}", (values, group, count), {})
    places = places_at(flat, sizes)
    if keepdims:
        places, sizes = _with_ones(places, sizes, kept, rank)
    if output_is_sparse:
        return SparseTensor(places, values, sizes)
    zeros = fill(sizes, convert(0, sparse.dtype._enum))
    return call("tensor_scatter_nd_update", (zeros, places, values), {})


def _axes(axis, rank):
    if axis is None:
        return list(range(rank))
    axes = [int(a) for a in convert_to_tensor(axis).numpy().reshape(-1)]
    for a in axes:
        if not -rank <= a < rank:
            raise InvalidArgumentError(
                None, None, f"Invalid reduction dimension {a}, for input with {rank} dimensions."
            )
    return [a % rank for a in axes]


def _with_ones(places, sizes, kept, rank):
    """Coordinates and sizes with the reduced dimensions back, of size one."""
    columns, lengths = [], []
    for d in range(rank):
        if d in kept:
            at = kept.index(d)
            columns.append(places[:, at])
            lengths.append(sizes[at])
        else:
            columns.append(fill(call("shape", (places,), {})[:1], convert(0, _INT64)))
            lengths.append(convert(1, _INT64))
    return call("stack", (columns,), {"axis": 1}), call("stack", (lengths,), {"axis": 0})


@export("tf.sparse.reduce_sum")
@sized_when_run
def reduce_sum(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """Sums along axes."""
    return _reduced(sp_input, axis, keepdims, output_is_sparse, "sum")


@export("tf.sparse.reduce_max")
@sized_when_run
def reduce_max(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """The largest of the elements that are there along axes; zero where there are none."""
    return _reduced(sp_input, axis, keepdims, output_is_sparse, "max")


@export("tf.sparse.softmax")
def softmax(sp_input, name=None):
    """Softmax over the elements that are there along the last dimension."""
    sparse = as_sparse(sp_input)
    rows = flat_places(sparse.indices[:, :-1], sparse.dense_shape[:-1])
    unique, group = call("unique", (rows,), {})
    count = call("size", (unique,), {})
    top = call("unsorted_segment_max", (sparse.values, group, count), {})
    shifted = sparse.values - call("gather", (top, group), {"axis": 0})
    powers = call("exp", (shifted,), {})
    total = call("unsorted_segment_sum", (powers, group, count), {})
    return sparse.with_values(powers / call("gather", (total, group), {"axis": 0}))


@export("tf.sparse.bincount")
@sized_when_run
def bincount(
    values, weights=None, axis=0, minlength=None, maxlength=None, binary_output=False, name=None
):
    """How often each number comes up, or the sum of its weights; by rows with ``axis=-1``."""
    if axis not in (0, -1, None):
        raise ValueError(
            f"Unsupported value for argument axis={axis}. Only 0 and -1 are supported."
        )
    if weights is not None and binary_output:
        raise InvalidArgumentError(
            None, None, "[sparse.bincount] Arguments `binary_output` and `weights` are exclusive"
        )
    numbers, rows, count = _numbers(values, axis)
    amounts = _weights(weights, values, numbers)
    numbers, rows, amounts, length = _limited(numbers, rows, amounts, minlength, maxlength)
    parts = [length] if rows is None else [_int64(count), length]
    sizes = call("stack", (parts,), {"axis": 0})
    flat = numbers if rows is None else rows * length + numbers
    order = call("argsort", (flat,), {"stable": True})
    unique, group = call("unique", (call("gather", (flat, order), {"axis": 0}),), {})
    how_many = call("size", (unique,), {})
    amounts = call("gather", (amounts, order), {"axis": 0})
    totals = call("unsorted_segment_sum", (amounts, group, how_many), {})
    if binary_output:
        totals = call("ones_like", (totals,), {"dtype": None})
    return SparseTensor(places_at(unique, sizes), totals, sizes)


def _int64(value):
    return value if is_symbolic(value) else convert(value, _INT64)


def _numbers(values, axis):
    """The numbers as a vector; with ``axis=-1`` also the row of each and how many rows."""
    if isinstance(values, (SparseTensor, SparseTensorValue)):
        sparse = as_sparse(values)
        numbers = cast(sparse.values, dtypes.int64)
        if axis != -1 or sparse.shape.rank == 1:
            return numbers, (None if axis != -1 else numbers * 0), 1
        return numbers, sparse.indices[:, 0], int(sparse.dense_shape[0])
    if hasattr(values, "value_rowids"):
        numbers = cast(values.flat_values, dtypes.int64)
        if axis != -1:
            return numbers, None, 1
        return numbers, cast(values.value_rowids(), dtypes.int64), int(values.nrows())
    dense = cast(convert_to_tensor(values), dtypes.int64)
    numbers = call("reshape", (dense, (-1,)), {})
    if axis != -1:
        return numbers, None, 1
    count = sizes_of(dense)[0] if dense.shape.rank > 1 else 1
    if is_symbolic(count):
        total = call("size", (numbers,), {"out_type": _INT64})
        width = total // call("maximum", (count, 1), {})
    else:
        width = 0 if count == 0 else sizes_of(numbers)[0] // count
    row = call("range", (convert(0, _INT64), count, 1), {})
    return numbers, call("repeat", (row, _int64(width)), {"axis": 0}), count


def _weights(weights, values, numbers):
    if weights is None:
        dtype = values.dtype if hasattr(values, "dtype") else convert_to_tensor(values).dtype
        wide = dtype == dtypes.int64
        return call("ones_like", (numbers,), {"dtype": dtypes.int64 if wide else dtypes.int32})
    if isinstance(weights, (SparseTensor, SparseTensorValue)):
        return as_sparse(weights).values
    if hasattr(weights, "flat_values"):
        return weights.flat_values
    flat = call("reshape", (convert_to_tensor(weights), (-1,)), {})
    if not flat.shape.is_compatible_with(numbers.shape):
        raise InvalidArgumentError(
            None,
            None,
            f"[sparse.bincount] weights have {flat.shape[0]} elements, values {numbers.shape[0]}",
        )
    return flat


def _limited(numbers, rows, amounts, minlength, maxlength):
    """Without the numbers that are too large; and the number of bins."""
    check_that(call("all", (numbers >= 0,), {}), "[sparse.bincount] values must be non-negative")
    largest = call("max", (call("concat", ([numbers, _int64([-1])],), {"axis": 0}),), {})
    length = call("maximum", (largest + 1, _int64(minlength or 0)), {})
    if maxlength is None:
        return numbers, rows, amounts, length
    length = call("minimum", (length, _int64(int(maxlength))), {})
    kept = numbers < int(maxlength)
    parts = (None if p is None else call("boolean_mask", (p, kept), {})
             for p in (numbers, rows, amounts))  # fmt: skip
    return (*parts, length)
