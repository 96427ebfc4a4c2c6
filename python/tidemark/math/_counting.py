"""Counts, histograms and means over segments: ``tf.math.bincount``, ``confusion_matrix``, …"""

from __future__ import annotations

import tidemark as tf
from tidemark import _tidemark, dtypes
from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import cast, convert_to_tensor, get_static_value
from tidemark._tensor.specs import CompositeTensor
from tidemark._tidemark import call, convert
from tidemark.dtypes import as_dtype


@export("tf.math.count_nonzero")
def count_nonzero(input, axis=None, keepdims=None, dtype=dtypes.int64, name=None):
    """How many elements are not zero; of strings, not empty."""
    input = convert_to_tensor(input)
    zero = convert("" if input.dtype is dtypes.string else 0) if not input.dtype.is_bool else None
    nonzero = input if zero is None else call("not_equal", (input, zero), {})
    attrs = {"axis": axis, "keepdims": bool(keepdims)}
    return cast(call("sum", (cast(nonzero, dtypes.int64),), attrs), dtype)


@export("tf.math.zero_fraction", "tf.nn.zero_fraction")
def zero_fraction(value, name=None):
    """Which part of the elements is zero; NaN of none."""
    value = convert_to_tensor(value)
    zeros = cast(call("equal", (value, 0), {}), dtypes.float32)
    return call("mean", (zeros,), {})


@export("tf.math.bincount")
def bincount(
    arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32, name=None, axis=None,
    binary_output=False,
):  # fmt: skip
    """How often each number comes up, or the sum of its weights; rows apart with ``axis=-1``."""
    if isinstance(arr, CompositeTensor):
        return _counts_of_composite(arr, weights, minlength, maxlength, dtype, axis, binary_output)
    arr = convert_to_tensor(arr)
    if arr.dtype not in (dtypes.int32, dtypes.int64):
        arr = cast(arr, dtypes.int32)
    if axis not in (None, 0, -1):
        raise ValueError(f"Argument `axis` must be one of 0 or -1. Received {axis}.")
    if axis == -1 and arr.ndim == 1:
        arr = call("reshape", (arr, (1, -1)), {})
    flat = arr if axis == -1 else call("reshape", (arr, (-1,)), {})
    size = _bins(arr, minlength, maxlength)
    if weights is None:
        weights = call("fill", ((0,), convert(0, as_dtype(dtype)._enum)), {})
    elif axis != -1:
        weights = call("reshape", (weights, (-1,)), {})
    return call("bincount", (flat, size, weights), {"binary_output": bool(binary_output)})


def _counts_of_composite(arr, weights, minlength, maxlength, dtype, axis, binary_output):
    """Of ragged and sparse tensors: of all their values, or of those in each row."""
    if axis != -1:
        flat, held = (getattr(x, "flat_values", getattr(x, "values", x)) for x in (arr, weights))
        return bincount(flat, held, minlength, maxlength, dtype, None, None, binary_output)
    least, most = (None if n is None else int(n) for n in (minlength, maxlength))
    counts = tf.sparse.bincount(arr, weights, axis, least, most, binary_output)
    return cast(tf.sparse.to_dense(counts), dtype if weights is None else weights.dtype)


def _bins(arr, minlength, maxlength):
    """How many numbers are counted: up to the largest one there is, between the two limits."""
    least = get_static_value(minlength)
    most = get_static_value(maxlength)
    if least is not None and most is not None and int(least) >= int(most):
        return int(most)
    if (
        _tidemark.is_symbolic(arr)
        or _tidemark.is_symbolic(minlength)
        or (_tidemark.is_symbolic(maxlength))
    ):
        flat = cast(call("reshape", (arr, (-1,)), {}), dtypes.int32)
        none = convert([-1], dtypes.int32._enum)
        size = call("max", (call("concat", ([flat, none],), {"axis": 0}),), {}) + 1
        if minlength is not None:
            size = call("maximum", (size, cast(minlength, dtypes.int32)), {})
        if maxlength is not None:
            size = call("minimum", (size, cast(maxlength, dtypes.int32)), {})
        return size
    size = int(call("max", (arr,), {})) + 1 if arr.shape.num_elements() else 0
    if minlength is not None:
        size = max(size, int(minlength))
    if maxlength is not None:
        size = min(size, int(maxlength))
    return size


@export("tf.math.confusion_matrix")
@sized_when_run
def confusion_matrix(
    labels, predictions, num_classes=None, weights=None, dtype=dtypes.int32, name=None
):
    """How often each label (row) was predicted as each class (column)."""
    labels = cast(convert_to_tensor(labels), dtypes.int64)
    predictions = cast(convert_to_tensor(predictions), dtypes.int64)
    if num_classes is None:
        both = call("concat", (labels, predictions), {"axis": 0})
        num_classes = int(call("max", (both,), {})) + 1
    pairs = call("stack", (labels, predictions), {"axis": 1})
    if weights is None:
        values = call("ones_like", (predictions,), {"dtype": as_dtype(dtype)._enum})
    else:
        values = cast(convert_to_tensor(weights), dtype)
    return call("scatter_nd", (pairs, values, (int(num_classes), int(num_classes))), {})


@export("tf.histogram_fixed_width_bins")
@sized_when_run
def histogram_fixed_width_bins(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """The bin of each value among ``nbins`` of equal width; those outside go to the ends."""
    values = convert_to_tensor(values)
    bounds = cast(convert_to_tensor(value_range, values.dtype), dtypes.float64)
    low, high = bounds[0], bounds[1]
    wide = cast(values, dtypes.float64)
    places = call("floor", ((wide - low) * (float(nbins) / (high - low)),), {})
    return cast(call("clip_by_value", (places, 0.0, float(nbins - 1)), {}), dtype)


@export("tf.histogram_fixed_width")
def histogram_fixed_width(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """How many values are in each of ``nbins`` bins of equal width."""
    bins = histogram_fixed_width_bins(values, value_range, nbins)
    return bincount(bins, minlength=nbins, maxlength=nbins, dtype=dtype)


def _segment_sizes(data, segment_ids, num_segments):
    """How many rows each segment has, shaped to divide the sums by; at least 1."""
    data, ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
    ones = call("ones_like", (ids,), {"dtype": data._dtype_enum})
    sizes = call("unsorted_segment_sum", (ones, ids, num_segments), {})
    extra = (1,) * (data.ndim - ids.ndim)
    sizes = call("reshape", (sizes, (*sizes._shape_tuple(), *extra)), {})
    return call("maximum", (sizes, 1), {})


@export("tf.math.unsorted_segment_mean")
def unsorted_segment_mean(data, segment_ids, num_segments, name=None):
    """The mean of the rows of each segment; zeros for one without rows."""
    total = call("unsorted_segment_sum", (data, segment_ids, num_segments), {})
    return total / _segment_sizes(data, segment_ids, num_segments)


@export("tf.math.unsorted_segment_sqrt_n")
def unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None):
    """The sum of the rows of each segment over the root of their number."""
    total = call("unsorted_segment_sum", (data, segment_ids, num_segments), {})
    return total / call("sqrt", (_segment_sizes(data, segment_ids, num_segments),), {})
