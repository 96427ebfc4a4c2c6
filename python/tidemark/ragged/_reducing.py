"""Reductions of ragged tensors: over all values, along rows, or of rows laid over each other."""

from __future__ import annotations

from tidemark import dtypes
from tidemark._tensor.creation import cast, get_static_value
from tidemark._tidemark import Tensor, call
from tidemark.ragged._indexing import _expanded
from tidemark.ragged._row_partition import RowPartition
from tidemark.ragged._tensor import RaggedTensor, _length


def _axes(axis, rank):
    """The axes, from 0 on; all must be known."""
    if isinstance(axis, Tensor):
        axis = get_static_value(axis)
        if axis is None:
            raise ValueError("axis must be known at graph construction time.")
        axis = axis.tolist()
    axes = axis if isinstance(axis, (list, tuple)) else [axis]
    for one in axes:
        if not hasattr(one, "__index__"):
            raise TypeError(f"axis must be an int; got {type(one).__name__}")
        if rank is None and one < 0:
            raise ValueError(
                f"axis={one} counts from the end, and the rank of the tensor is not known: count "
                "from 0"
            )
    return {int(one) % rank if rank is not None else int(one) for one in axes}


def _reduction(op, segment):
    def reduce(input_tensor, axis=None, keepdims=False):
        ragged, rank = input_tensor, input_tensor.shape.rank
        if axis is None:
            reduced = call(op, (ragged.flat_values,), {})
            return call("reshape", (reduced, [1] * rank), {}) if keepdims else reduced
        for one in sorted(_axes(axis, rank), reverse=True):
            ragged = _along(ragged, one, op, segment, keepdims)
        return ragged

    return reduce


def _along(value, axis, op, segment, keepdims):
    if not isinstance(value, RaggedTensor):
        return call(op, (value,), {"axis": [axis], "keepdims": bool(keepdims)})
    if axis > 1:
        return value.with_values(_along(value.values, axis - 1, op, segment, keepdims))
    inner = value.values
    if isinstance(inner, RaggedTensor):
        return _along_of_rows(value, axis, op, segment, keepdims)
    if axis == 1:
        reduced = segment(inner, value.value_rowids(), value.nrows())
        return call("expand_dims", (reduced,), {"axis": 1}) if keepdims else reduced
    lengths = value.row_lengths()
    longest = call("max", (lengths,), {}) if _length(value) else 0
    reduced = segment(inner, value._row_partition.offsets_in_rows(), longest)
    return call("expand_dims", (reduced,), {"axis": 0}) if keepdims else reduced


def _along_of_rows(value, axis, op, segment, keepdims):
    """Rows that hold rows: those of one group are laid over each other, then reduced."""
    rows = value._row_partition
    group = rows.value_rowids() if axis == 1 else rows.offsets_in_rows()
    count = value.nrows() if axis == 1 else call("max", (value.row_lengths(),), {})
    inner = value.values
    offsets = inner._row_partition.offsets_in_rows()
    own = call("gather", (group, inner.value_rowids()), {"axis": 0})
    lengths = call("unsorted_segment_max", (inner.row_lengths(), group, count), {})
    made = RowPartition.from_row_lengths(call("maximum", (lengths, 0), {}), validate=False)
    place = call("gather", (made.row_starts(), own), {"axis": 0}) + offsets
    if isinstance(inner.values, RaggedTensor):
        raise NotImplementedError("reductions over rows of rows of rows are not supported")
    values = segment(inner.values, place, made.nvals())
    result = RaggedTensor._from_row_partition(values, made, validate=False)
    if not keepdims:
        return result
    return _expanded(result) if axis == 0 else RaggedTensor.from_uniform_row_length(result, 1)


def _segment(op):
    return lambda values, ids, count: call(f"unsorted_segment_{op}", (values, ids, count), {})


def _segment_logic(op):
    def segment(values, ids, count):
        found = call(f"unsorted_segment_{op}", (cast(values, dtypes.int32), ids, count), {})
        return found > 0

    return segment


# --- of reductions -------------------------------------------------------------------------------


def _on_values(function, *tensors):
    """A function of the values of tensors with the same rows."""
    first = tensors[0]
    if not isinstance(first, RaggedTensor):
        return function(*tensors)
    return first.with_flat_values(function(*(t.flat_values for t in tensors)))


def _sum(input_tensor, axis, keepdims):
    return HANDLERS["reduce_sum"](input_tensor, axis, keepdims)


def reduce_mean(input_tensor, axis=None, keepdims=False):
    """Sums over counts, as Python divides."""
    ones = _on_values(lambda v: call("ones_like", (v,), {"dtype": None}), input_tensor)
    total, count = _sum(input_tensor, axis, keepdims), _sum(ones, axis, keepdims)
    return _on_values(lambda a, b: a / b, total, count)


def reduce_variance(input_tensor, axis=None, keepdims=False):
    """The mean of the squares less the square of the mean, which rounding leaves above 0."""
    if input_tensor.dtype.is_integer:
        input_tensor = _on_values(lambda v: cast(v, dtypes.float64), input_tensor)
    squares = _on_values(lambda v: v * v, input_tensor)
    of_squares = reduce_mean(squares, axis, keepdims)
    mean = reduce_mean(input_tensor, axis, keepdims)
    return _on_values(
        lambda s, m: call("maximum", (s - m * m, call("zeros_like", (m,), {"dtype": None})), {}),
        of_squares,
        mean,
    )


def reduce_std(input_tensor, axis=None, keepdims=False):
    """The square root of the variance."""
    variance = reduce_variance(input_tensor, axis, keepdims)
    return _on_values(lambda v: call("sqrt", (v,), {}), variance)


HANDLERS = {
    "reduce_all": _reduction("all", _segment_logic("min")),
    "reduce_any": _reduction("any", _segment_logic("max")),
    "reduce_max": _reduction("max", _segment("max")),
    "reduce_mean": reduce_mean,
    "reduce_min": _reduction("min", _segment("min")),
    "reduce_prod": _reduction("prod", _segment("prod")),
    "reduce_std": reduce_std,
    "reduce_sum": _reduction("sum", _segment("sum")),
    "reduce_variance": reduce_variance,
}
