"""Rows of tables that ids name, each for itself or combined."""

from __future__ import annotations

import tidemark
from tidemark import dtypes
from tidemark._export import dispatching, export
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tensor.static import sizes_of
from tidemark._tidemark import call, convert


@export("tf.nn.embedding_lookup")
@dispatching
def embedding_lookup(params, ids, max_norm=None, name=None):
    """The rows of ``params`` that ``ids`` names; several parts hold the rows in turn ("mod")."""
    is_cut = isinstance(params, (list, tuple)) or hasattr(params, "_get_partitions")
    parts = list(params) if is_cut else [params]
    if not parts:
        raise ValueError("Argument `params` should not be empty.")
    ids = convert_to_tensor(ids)
    if len(parts) == 1:
        rows = call("gather", (parts[0], ids), {"axis": 0})
    else:
        rows = _lookup_in_parts([convert_to_tensor(p) for p in parts], ids)
    return rows if max_norm is None else _clipped(rows, max_norm, ids.ndim)


def _lookup_in_parts(parts, ids):
    """Row i lies in part i % parts at i // parts: one table made of them side by side."""
    count = len(parts)
    starts = [0]
    for part in parts:
        starts.append(starts[-1] + sizes_of(part)[0])
    table = call("concat", tuple(parts), {"axis": 0})
    of_part = cast(convert_to_tensor(starts[:-1]), ids.dtype)
    part, row = call("floormod", (ids, count), {}), call("floordiv", (ids, count), {})
    return call("gather", (table, call("gather", (of_part, part), {}) + row), {"axis": 0})


def _clipped(rows, max_norm, lead):
    """Rows longer than ``max_norm`` made that long."""
    axes = list(range(lead, rows.ndim))
    square = call("sum", (call("square", (rows,), {}),), {"axis": axes, "keepdims": True})
    norm = call("sqrt", (square,), {})
    limit = cast(max_norm, rows.dtype)
    return rows * limit / call("maximum", (norm, limit), {})


_COMBINERS = ("mean", "sqrtn", "sum")


def _checked_combiner(combiner):
    combiner = "mean" if combiner is None else combiner
    if combiner not in _COMBINERS:
        raise ValueError(
            f"`combiner` must be one of {', '.join(map(repr, _COMBINERS))}, got {combiner!r}"
        )
    return combiner


def _check_sparse(ids, name):
    if not all(hasattr(ids, part) for part in ("indices", "values", "dense_shape")):
        raise TypeError(f"`{name}` must be SparseTensor, got {type(ids)}")


def _weighted(rows, weights):
    if weights is None:
        return rows, None
    weights = cast(convert_to_tensor(weights), rows.dtype)
    spread = weights
    for _ in range(rows.ndim - 1):
        spread = call("expand_dims", (spread,), {"axis": -1})
    return rows * spread, weights


def _combined(rows, weights, segments, count, combiner):
    """Sums over the rows of each segment, divided as the combiner says; 0 for empty segments."""

    def total(values):
        return call("unsorted_segment_sum", (values, segments, count), {})

    rows, weights = _weighted(rows, weights)
    sums = total(rows)
    if combiner == "sum":
        return sums
    if weights is None:
        weights = call("ones_like", (cast(segments, rows.dtype),), {})
    if combiner == "mean":
        divisor = total(weights)
    else:
        divisor = call("sqrt", (total(call("square", (weights,), {})),), {})
    for _ in range(rows.ndim - 1):
        divisor = call("expand_dims", (divisor,), {"axis": -1})
    return call("divide_no_nan", (sums, divisor), {})


@export("tf.nn.embedding_lookup_sparse")
def embedding_lookup_sparse(
    params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None, allow_fast_lookup=False
):
    """For each row of a sparse matrix of ids: the rows of ``params`` it names, combined."""
    combiner = _checked_combiner(combiner)
    _check_sparse(sp_ids, "sp_ids")
    if sp_weights is not None:
        _check_sparse(sp_weights, "sp_weights")
    rows = embedding_lookup(params, sp_ids.values, max_norm=max_norm)
    segments = call("gather", (convert_to_tensor(sp_ids.indices), convert(0)), {"axis": 1})
    none = call("fill", ([1], convert(-1, segments._dtype_enum)), {})
    last = call("max", (call("concat", (segments, none), {"axis": 0}),), {"axis": [0]})
    weights = None if sp_weights is None else sp_weights.values
    return _combined(rows, weights, segments, last + 1, combiner)


def _flat_rows(ids):
    """Of every element, the number of its row; the number of rows; all sizes but the last."""
    indices = convert_to_tensor(ids.indices, dtype="int64")
    sizes = convert_to_tensor(ids.dense_shape, dtype="int64")
    leading = sizes[:-1]
    strides = call("cumprod", (leading,), {"exclusive": True, "reverse": True})
    rows = call("sum", (indices[:, :-1] * strides,), {"axis": [1]})
    return rows, call("prod", (leading,), {"axis": [0]}), leading


@export("tf.nn.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(
    embedding_weights, sparse_ids, sparse_weights=None, combiner="mean", default_id=None,
    max_norm=None, name=None, allow_fast_lookup=False,
):  # fmt: skip
    """As ``embedding_lookup_sparse``; ids below 0 and weights not above 0 do not count, and rows
    without any have the embedding of ``default_id``, or 0."""
    combiner = _checked_combiner(combiner)
    _check_sparse(sparse_ids, "sparse_ids")
    rows, count, leading = _flat_rows(sparse_ids)
    values = convert_to_tensor(sparse_ids.values)
    zero = convert(0, values._dtype_enum)
    valid = call("greater_equal", (values, zero), {})
    weights = None
    if sparse_weights is not None:
        weights = convert_to_tensor(sparse_weights.values)
        if combiner != "sum":
            above = call("greater", (weights, convert(0, weights._dtype_enum)), {})
            valid = call("logical_and", (valid, above), {})
        weights = call("boolean_mask", (weights, valid), {"axis": 0})
    values = call("boolean_mask", (values, valid), {"axis": 0})
    rows = call("boolean_mask", (rows, valid), {"axis": 0})
    found = embedding_lookup(embedding_weights, values, max_norm=max_norm)
    result = _combined(found, weights, rows, count, combiner)
    if default_id is not None:
        ones = call("ones_like", (rows,), {})
        filled = call("unsorted_segment_sum", (ones, rows, count), {})
        empty = call("equal", (filled, convert(0, filled._dtype_enum)), {})
        for _ in range(result.ndim - 1):
            empty = call("expand_dims", (empty,), {"axis": -1})
        default = embedding_lookup(embedding_weights, [default_id], max_norm=max_norm)
        result = call("select", (empty, default, result), {})
    width = cast(tidemark.shape(result)[1:], dtypes.int64)
    return call("reshape", (result, call("concat", (leading, width), {"axis": 0})), {})
