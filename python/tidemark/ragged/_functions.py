"""``tf.ragged.constant``, ``range``, ``stack``, ``boolean_mask`` and their kin."""

from __future__ import annotations

import builtins

import numpy as np

from tidemark import dtypes
from tidemark._export import export
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tidemark import call, convert, is_symbolic
from tidemark.errors import InvalidArgumentError
from tidemark.ragged._row_partition import RowPartition, as_splits, check_that
from tidemark.ragged._tensor import RaggedTensor, _length, as_values


@export("tf.ragged.constant")
def constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None,
             row_splits_dtype=dtypes.int64):  # fmt: skip
    """Nested lists of different lengths as a ragged tensor."""
    depth, deepest = _depths(pylist)
    if deepest is None:  # empty lists have as many dimensions as they are said to have
        deepest = depth
    elif ragged_rank is not None and inner_shape is None and deepest < ragged_rank + 1:
        raise ValueError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}")
    if inner_shape is not None:
        inner_shape = tuple(inner_shape)
        if ragged_rank is None:
            ragged_rank = max(depth - 1 - len(inner_shape), 0)
    if ragged_rank is None:
        ragged_rank = max(deepest - 1, 0) if isinstance(pylist, (list, tuple)) else 0
    if not isinstance(pylist, (list, tuple, np.ndarray)) or not ragged_rank:
        if not isinstance(pylist, (list, tuple, np.ndarray)):
            return convert(pylist, dtypes.enum_of(dtype))
        return _dense(pylist, dtype, inner_shape)
    splits, level = [], pylist
    for _ in builtins.range(ragged_rank):
        lengths = [len(row) for row in level]
        splits.append(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))
        level = [item for row in level for item in row]
    values = _dense(level, dtype, inner_shape)
    number = dtypes.as_dtype(row_splits_dtype)
    nested = [cast(convert(s), number) for s in splits]
    return RaggedTensor.from_nested_row_splits(values, nested, validate=False)


def _dense(items, dtype, inner_shape):
    number = dtypes.enum_of(dtype)
    if inner_shape is not None and len(items) == 0:
        empty = convert([], number or dtypes.float32._enum)
        return call("reshape", (empty, [0, *inner_shape]), {})
    try:
        values = convert(list(items), number)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"all scalar values of a ragged tensor must have one depth: {error}"
        ) from None
    if inner_shape is not None:
        values.shape[1:].assert_is_compatible_with(inner_shape)
    return values


def _depths(item):
    """Levels of nesting, and the level of scalars (None if there are none)."""
    if not isinstance(item, (list, tuple, np.ndarray)):
        return 0, 0
    if isinstance(item, np.ndarray) and item.dtype != object:
        return item.ndim, item.ndim
    found = [_depths(inner) for inner in item]
    scalars = {level for _, level in found if level is not None}
    if len(scalars) > 1:
        raise ValueError(f"all scalar values must have the same nesting depth: {item!r}")
    depth = 1 + max((d for d, _ in found), default=0)
    return depth, (1 + scalars.pop() if scalars else None)


@export("tf.ragged.map_flat_values")
def map_flat_values(op, *args, **kwargs):
    """Calls a function with the innermost values of the ragged tensors among its arguments."""
    found = [a for a in (*args, *kwargs.values()) if isinstance(a, RaggedTensor)]
    found += [i for a in args if isinstance(a, (list, tuple)) for i in a
              if isinstance(i, RaggedTensor)]  # fmt: skip
    if not found:
        return op(*args, **kwargs)
    rows = found[0]
    for other in found[1:]:
        rows = of_same_rows(rows, other)

    def of(value):
        if isinstance(value, RaggedTensor):
            return value.flat_values
        return [of(v) for v in value] if isinstance(value, (list, tuple)) else value

    values = op(*(of(a) for a in args), **{name: of(a) for name, a in kwargs.items()})
    if values.shape.rank == 0 or values.shape[0] != _length(found[0].flat_values):
        raise ValueError(
            "tf.ragged.map_flat_values requires that the output of `op` have the same outer-"
            f"dimension size as flat_values of any ragged inputs. (output shape: {values.shape})"
        )
    return rows.with_flat_values(values)


def of_same_rows(one, other):
    """The first of both, checked to be cut into rows as the other is: now, or when it runs."""
    alike = len(one._nested_row_partitions) == len(other._nested_row_partitions)
    pairs = list(zip(one.nested_row_splits, other.nested_row_splits, strict=False))
    message = "ragged tensors have different rows"
    if alike and any(is_symbolic(splits) for pair in pairs for splits in pair):
        checks = [
            check_that(call("all", (call("equal", (cast(a, dtypes.int64), cast(b, dtypes.int64)),
                                         {}),), {}), message)
            for a, b in pairs if a is not b
        ]  # fmt: skip
        rows = one._row_partition
        for check in checks:
            rows = rows if check is None else rows.after(check)
        return RaggedTensor(one.values, internal=True, row_partition=rows)
    if not (alike and all(a.numpy().tolist() == b.numpy().tolist() for a, b in pairs)):
        raise InvalidArgumentError(None, None, f"{message}: {one} and {other}")
    return one


@export("tf.ragged.range")
def range(starts, limits=None, deltas=1, dtype=None, name=None,
          row_splits_dtype=dtypes.int64):  # fmt: skip
    """One range a row."""
    if limits is None:
        starts, limits = 0, starts
    starts, limits, deltas = (convert_to_tensor(v) for v in (starts, limits, deltas))
    kind = dtypes.as_dtype(dtype) if dtype is not None else max(
        (starts.dtype, limits.dtype, deltas.dtype), key=lambda d: (d.is_floating, d.size)
    )  # fmt: skip
    starts, limits, deltas = (cast(v, kind) for v in (starts, limits, deltas))
    nonzero = call("all", (call("not_equal", (deltas, convert(0, kind._enum)), {}),), {})
    check_that(nonzero, "[ragged.range] Requires delta != 0")
    one = starts * 0 + limits * 0 + deltas * 0
    one = call("reshape", (one, (-1,)), {})
    starts, limits, deltas = (v + one for v in (starts, limits, deltas))
    exact = cast(limits - starts, dtypes.float64) / cast(deltas, dtypes.float64)
    lengths = cast(call("ceil", (call("maximum", (exact, 0.0), {}),), {}), row_splits_dtype)
    rows = RowPartition.from_row_lengths(lengths, validate=False)
    rowids = rows.value_rowids()
    steps = cast(rows.offsets_in_rows(), kind)
    picked = [call("gather", (v, rowids), {"axis": 0}) for v in (starts, deltas)]
    return RaggedTensor._from_row_partition(picked[0] + steps * picked[1], rows)


@export("tf.ragged.row_splits_to_segment_ids")
def row_splits_to_segment_ids(splits, name=None, out_type=None):
    """The row of each value."""
    rows = RowPartition.from_row_splits(splits, validate=False)
    ids = rows.value_rowids()
    return ids if out_type is None else cast(ids, out_type)


@export("tf.ragged.segment_ids_to_row_splits")
def segment_ids_to_row_splits(segment_ids, num_segments=None, out_type=None, name=None):
    """Where the rows of values with the given row numbers begin."""
    ids = as_splits(segment_ids)
    splits = RowPartition.from_value_rowids(ids, num_segments).row_splits()
    return cast(splits, dtypes.int64 if out_type is None else out_type)


@export("tf.ragged.stack")
def stack(values, axis=0, name=None):
    """Tensors of different shapes as the rows of one."""
    values = [as_values(v) for v in values]
    if not values:
        raise ValueError("tf.ragged.stack needs at least one value")
    if axis == 0:
        lengths = [_length(v) for v in values]
        ragged = [v.row_splits.dtype for v in values if isinstance(v, RaggedTensor)]
        number = ragged[0] if ragged else dtypes.int32
        lengths = convert(lengths, number._enum)
        return RaggedTensor.from_row_lengths(_joined(values), lengths, validate=False)
    if axis == 1:
        expanded = [_each_in_a_row(v) for v in values]
        from tidemark.ragged._dispatch import concat  # it imports this module

        return concat(expanded, 1)
    rows = values[0].with_values
    return rows(stack([v.values for v in values], axis - 1))


def _joined(values):
    from tidemark.ragged._dispatch import concat  # it imports this module

    if any(isinstance(v, RaggedTensor) for v in values):
        return concat(values, 0)
    if any(v.shape.rank > 1 for v in values):
        return concat([RaggedTensor.from_tensor(v) for v in values], 0)
    return call("concat", (values,), {"axis": 0})


def _each_in_a_row(value):
    """With a new dimension of size one after the first."""
    return RaggedTensor.from_uniform_row_length(value, 1)


@export("tf.ragged.boolean_mask")
def boolean_mask(data, mask, name=None):
    """The elements for which the mask is true, rows kept."""
    data, mask = as_values(data), as_values(mask)
    if not isinstance(mask, RaggedTensor) and mask.shape.rank > 1:
        mask = RaggedTensor.from_tensor(mask, ragged_rank=mask.shape.rank - 1)
    if not isinstance(mask, RaggedTensor):
        from tidemark.ragged._indexing import take  # it imports this module

        where = call("nonzero", (mask,), {})
        return take(data, call("reshape", (where, (-1,)), {}))
    if not isinstance(data, RaggedTensor):
        data = RaggedTensor.from_tensor(data, ragged_rank=mask.ragged_rank)
    if isinstance(mask.values, RaggedTensor):
        return data.with_values(boolean_mask(data.values, mask.values))
    counts = call("unsorted_segment_sum", (
        cast(mask.values, data.row_splits.dtype), mask.value_rowids(), mask.nrows()
    ), {})  # fmt: skip
    return RaggedTensor.from_row_lengths(boolean_mask(data.values, mask.values), counts)


@export("tf.ragged.stack_dynamic_partitions")
def stack_dynamic_partitions(data, partitions, num_partitions, name=None):
    """One row for each partition, with the elements that belong to it."""
    from tidemark.ragged._indexing import take  # it imports this module

    data, partitions = as_values(data), convert_to_tensor(partitions)
    if partitions.shape.rank != 1:
        raise ValueError("partitions must be a vector")
    order = call("argsort", (partitions,), {"stable": True})
    rowids = call("gather", (partitions, order), {"axis": 0})
    return RaggedTensor.from_value_rowids(take(data, order), rowids, int(num_partitions))


@export("tf.ragged.cross")
def cross(inputs, name=None):
    """All combinations of one element of each column, row by row, joined as text."""
    from tidemark.sparse._combining import cross as sparse_cross  # it imports this module

    return RaggedTensor.from_sparse(sparse_cross(inputs))
