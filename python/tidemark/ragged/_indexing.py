"""``ragged[...]``: rows, slices of rows, slices inside of rows."""

from __future__ import annotations

import numpy as np

from tidemark._tidemark import Tensor, call, convert, is_symbolic
from tidemark.ragged._row_partition import RowPartition
from tidemark.ragged._tensor import RaggedTensor


def getitem(ragged, key):
    """What the key picks; ints along the first dimension, slices along all."""
    keys = list(key) if isinstance(key, (list, tuple)) else [key]
    keys = _without_ellipsis(keys, ragged.shape.rank)
    if not keys:
        return ragged
    first, rest = keys[0], keys[1:]
    if first is None:
        inner = getitem(ragged, tuple(rest)) if rest else ragged
        return _expanded(inner)
    if isinstance(first, slice):
        picked = ragged if first == slice(None) else _rows(ragged, first)
        return _inside(picked, rest)
    if isinstance(first, (int, np.integer, Tensor)):
        row = _row(ragged, first if is_symbolic(first) else int(first))
        return row[tuple(rest)] if rest else row
    raise TypeError(f"ragged tensors are indexed by ints, slices, None and ..., not {first!r}")


def _without_ellipsis(keys, rank):
    if Ellipsis not in [k if k is Ellipsis else None for k in keys]:
        return keys
    at = next(i for i, k in enumerate(keys) if k is Ellipsis)
    used = sum(k is not None and k is not Ellipsis for k in keys)
    return keys[:at] + [slice(None)] * (rank - used) + keys[at + 1 :]


def _expanded(value):
    if not isinstance(value, RaggedTensor):
        return call("expand_dims", (value,), {"axis": 0})
    rows = RowPartition.from_uniform_row_length(
        value._row_partition.static_nrows, nrows=1, dtype=value.row_splits.dtype
    )
    return RaggedTensor._from_row_partition(value, rows, validate=False)


def _row(ragged, index):
    count = ragged._row_partition.static_nrows
    if is_symbolic(index) or is_symbolic(ragged.row_splits):
        return _row_when_run(ragged, index, count)
    if not -count <= index < count:
        raise IndexError(f"slice index {index} of dimension 0 out of bounds: {count} rows")
    index = index + count if index < 0 else index
    begin, end = ragged.row_splits[index : index + 2].numpy().tolist()
    return ragged.values[begin:end]


def _row_when_run(ragged, index, count):
    """A row whose place is known when the graph runs."""
    if is_symbolic(index) or count is None:
        number = ragged.row_splits.dtype._enum
        index = call("cast", (convert(index),), {"dtype": number})
        index = index + call("cast", (index < 0,), {"dtype": number}) * ragged.nrows()
    elif not -count <= index < count:
        raise IndexError(f"slice index {index} of dimension 0 out of bounds: {count} rows")
    elif index < 0:
        index += count
    begin, end = ragged.row_splits[index], ragged.row_splits[index + 1]
    if isinstance(ragged.values, RaggedTensor):
        return gather_rows(ragged.values, call("range", (begin, end, 1), {}))
    return ragged.values[begin:end]


def _rows(ragged, key):
    """Some of the rows."""
    count = ragged._row_partition.static_nrows
    if count is None or any(is_symbolic(k) for k in (key.start, key.stop, key.step)):
        number = ragged.row_splits.dtype._enum
        return gather_rows(ragged, call("range", (convert(0, number), ragged.nrows(), 1), {})[key])
    begin, end, step = slice(*(None if k is None else int(k) for k in
                               (key.start, key.stop, key.step))).indices(count)  # fmt: skip
    which = convert(list(range(begin, end, step)), ragged.row_splits.dtype._enum)
    return gather_rows(ragged, which)


def gather_rows(ragged, which):
    """The rows of the given numbers."""
    starts = call("gather", (ragged.row_starts(), which), {"axis": 0})
    limits = call("gather", (ragged.row_limits(), which), {"axis": 0})
    return between(ragged, starts, limits)


def between(ragged, starts, limits, step=1):
    """Rows made of the values from each start up to its limit."""
    number = starts.dtype._enum
    span = limits - starts
    lengths = call("maximum", ((span + (step - (1 if step > 0 else -1))) // step, 0), {})
    rows = RowPartition.from_row_lengths(lengths, validate=False)
    places = rows.offsets_in_rows() * convert(step, number)
    places = places + call("gather", (starts, rows.value_rowids()), {"axis": 0})
    values = take(ragged.values, places)
    return RaggedTensor._from_row_partition(values, rows, validate=False)


def take(values, places):
    """Rows of a dense or ragged tensor."""
    if isinstance(values, RaggedTensor):
        return gather_rows(values, places)
    return call("gather", (values, places), {"axis": 0})


def _inside(ragged, keys):
    """Applies keys to the dimensions inside of the rows."""
    if not keys or all(isinstance(k, slice) and k == slice(None) for k in keys):
        return ragged
    first, rest = keys[0], keys[1:]
    if first is None:
        rows = RowPartition.from_uniform_row_length(
            1, nrows=ragged._row_partition.static_nrows, dtype=ragged.row_splits.dtype
        )
        inner = _inside(ragged, rest)
        return RaggedTensor._from_row_partition(inner, rows, validate=False)
    if not isinstance(first, slice):
        if ragged._row_partition.is_uniform():
            return _uniform_column(ragged, int(first), rest)
        raise ValueError("Cannot index into an inner ragged dimension.")
    picked = ragged if first == slice(None) else _slice_rows(ragged, first)
    if not rest:
        return picked
    return picked.with_values(picked.values[(slice(None), *rest)])


def _uniform_column(ragged, index, rest):
    length = ragged._row_partition.static_uniform_row_length
    index = index + length if index < 0 else index
    picked = take(ragged.values, ragged.row_starts() + index)
    return picked[(slice(None), *rest)] if rest else picked


def _slice_rows(ragged, key):
    """The slice of every row."""
    starts, limits, lengths = ragged.row_starts(), ragged.row_limits(), ragged.row_lengths()
    step = 1 if key.step is None else int(key.step)
    if step == 0:
        raise ValueError("slice step cannot be zero")

    def place(bound):
        """A bound of Python's slices as a position in each row."""
        bound = int(bound)
        low, high = (0, lengths) if step > 0 else (-1, lengths - 1)
        at = (
            lengths + bound
            if bound < 0
            else call("zeros_like", (lengths,), {"dtype": None}) + bound
        )
        return call("minimum", (call("maximum", (at, low), {}), high), {})

    if step > 0:
        begin = starts if key.start is None else starts + place(key.start)
        end = limits if key.stop is None else starts + place(key.stop)
    else:
        begin = limits - 1 if key.start is None else starts + place(key.start)
        end = starts - 1 if key.stop is None else starts + place(key.stop)
    return between(ragged, begin, end, step)
