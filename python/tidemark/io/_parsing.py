"""Examples into tensors: ``tf.io.parse_example`` and the descriptions of features."""

from __future__ import annotations

import collections

import tidemark
from tidemark import dtypes
from tidemark._export import export
from tidemark._graph.tracing import is_symbolic
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import call


class VarLenFeature(collections.namedtuple("VarLenFeature", ["dtype"])):
    """Any number of values in each example; parsed to a SparseTensor."""

    __slots__ = ()


class FixedLenFeature(
    collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])
):
    """As many values in each example as the shape says."""

    __slots__ = ()

    def __new__(cls, shape, dtype, default_value=None):
        return super().__new__(cls, shape, dtype, default_value)


class FixedLenSequenceFeature(
    collections.namedtuple(
        "FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"]
    )
):
    """Rows of the shape, any number in each example; filled up to the longest."""

    __slots__ = ()

    def __new__(cls, shape, dtype, allow_missing=False, default_value=None):
        return super().__new__(cls, shape, dtype, allow_missing, default_value)


class RaggedFeature(
    collections.namedtuple(
        "RaggedFeature", ["dtype", "value_key", "partitions", "row_splits_dtype", "validate"]
    )
):
    """Any number of values in each example; parsed to a RaggedTensor."""

    __slots__ = ()

    def __new__(
        cls, dtype, value_key=None, partitions=(), row_splits_dtype=dtypes.int32, validate=False
    ):
        return super().__new__(cls, dtype, value_key, partitions, row_splits_dtype, validate)

    class RowSplits(collections.namedtuple("RowSplits", ["key"])):
        """Where rows begin, and the last ends, in another feature."""

        def rows(self, serialized, counts):
            ends, splits = _rows(serialized, self.key, dtypes.int64)
            numbers = _row_numbers(splits)[0]
            inside = call("equal", (numbers[1:], numbers[:-1]), {})
            lengths = call("boolean_mask", (ends[1:] - ends[:-1], inside), {})
            return lengths, splits[1:] - splits[:-1] - convert_to_tensor(1, dtypes.int64)

    class RowLengths(collections.namedtuple("RowLengths", ["key"])):
        """How long rows are, in another feature."""

        def rows(self, serialized, counts):
            lengths, splits = _rows(serialized, self.key, dtypes.int64)
            return lengths, splits[1:] - splits[:-1]

    class RowLimits(collections.namedtuple("RowLimits", ["key"])):
        """Where rows end, in another feature."""

        def rows(self, serialized, counts):
            ends, splits = _rows(serialized, self.key, dtypes.int64)
            places = _row_numbers(splits)[1]
            zero = convert_to_tensor([0], dtypes.int64)
            before = call("concat", (zero, ends), {"axis": 0})[:-1]
            first = call("equal", (places, zero), {})
            before = call("select", (first, call("zeros_like", (before,), {}), before), {})
            return ends - before, splits[1:] - splits[:-1]

    class RowStarts(collections.namedtuple("RowStarts", ["key"])):
        """Where rows begin, in another feature."""

        def rows(self, serialized, counts):
            starts, splits = _rows(serialized, self.key, dtypes.int64)
            rows, places, lengths = _row_numbers(splits)
            zero, one = convert_to_tensor([0], dtypes.int64), convert_to_tensor(1, dtypes.int64)
            after = call("concat", (starts, zero), {"axis": 0})[1:]
            last = call("equal", (places, call("gather", (lengths, rows), {}) - one), {})
            after = call("select", (last, call("gather", (counts, rows), {}), after), {})
            return after - starts, lengths

    class ValueRowIds(collections.namedtuple("ValueRowIds", ["key"])):
        """The row of each value, in another feature."""

        def rows(self, serialized, counts):
            ids, splits = _rows(serialized, self.key, dtypes.int64)
            rows, _, lengths = _row_numbers(splits)
            one = convert_to_tensor(1, dtypes.int64)
            most = call("unsorted_segment_max", (ids + one, rows, _count(lengths)), {})
            most = call("maximum", (most, convert_to_tensor(0, dtypes.int64)), {})
            first = call("gather", (_ends(most), rows), {})
            ones = call("ones_like", (ids,), {})
            total = call("sum", (most,), {})
            return call("unsorted_segment_sum", (ones, first + ids, total), {}), most

    class UniformRowLength(collections.namedtuple("UniformRowLength", ["length"])):
        """Rows of one length."""

        def rows(self, serialized, counts):
            length = convert_to_tensor(int(self.length), dtypes.int64)
            rows = call("floordiv", (counts, length), {})
            total = call("reshape", (call("sum", (rows,), {}), [1]), {})
            return call("fill", (total, length), {}), rows


class SparseFeature(
    collections.namedtuple(
        "SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"]
    )
):
    """Values with their places in another feature; parsed to a SparseTensor."""

    __slots__ = ()

    def __new__(cls, index_key, value_key, dtype, size, already_sorted=False):
        return super().__new__(cls, index_key, value_key, dtype, size, already_sorted)


_DTYPES = (dtypes.float32, dtypes.int64, dtypes.string)


def _checked_dtype(key, feature):
    if feature.dtype is None:
        raise ValueError(f"Missing type for feature {key}.")
    dtype = dtypes.as_dtype(feature.dtype)
    if dtype not in _DTYPES:
        raise ValueError(
            f"[parse_example] feature {key!r} is {dtype}; allowed are float32, int64 and string"
        )
    return dtype


def _shape_of(key, feature):
    shape = feature.shape
    if isinstance(shape, int):
        shape = [shape]
    try:
        return [int(size) for size in shape]
    except (TypeError, ValueError):
        raise ValueError(
            f"[parse_example] all dimensions of the shape of feature {key!r} must be known; given "
            f"{feature.shape}"
        ) from None


def _fixed(serialized, key, feature):
    dtype, shape = _checked_dtype(key, feature), _shape_of(key, feature)
    default = feature.default_value
    default = convert_to_tensor([] if default is None else default, dtype=dtype)
    attrs = {"key": key, "dense_shape": shape}
    return call("parse_example_fixed", (serialized, default), attrs)


def _rows(serialized, key, dtype):
    return call("parse_example_var", (serialized,), {"key": key, "dtype": dtype})


def _count(tensor):
    return call("size", (tensor,), {"out_type": dtypes.int64})


def _numbers(count):
    """0 to count - 1."""
    zero, one = convert_to_tensor(0, dtypes.int64), convert_to_tensor(1, dtypes.int64)
    return call("range", (zero, count, one), {})


def _longest(lengths):
    zero = convert_to_tensor([0], dtypes.int64)
    return call("max", (call("concat", (lengths, zero), {"axis": 0}),), {})


def _row_numbers(splits):
    """The row and the place in it of each value, and how long rows are."""
    lengths = splits[1:] - splits[:-1]
    rows = call("repeat", (_numbers(_count(lengths)), lengths), {"axis": 0})
    places = _numbers(splits[-1]) - call("gather", (splits, rows), {})
    return rows, places, lengths


def _sparse(serialized, key, feature):
    values, splits = _rows(serialized, key, _checked_dtype(key, feature))
    return _sparse_of(values, splits)


def _sparse_of(values, splits):
    rows, places, lengths = _row_numbers(splits)
    indices = call("stack", (rows, places), {"axis": 1})
    shape = call("stack", (_count(lengths), _longest(lengths)), {"axis": 0})
    return tidemark.SparseTensor(indices, values, shape)


def _indexed(serialized, key, feature):
    """Values at the places that other features name."""
    keys = [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key)
    sizes = [feature.size] if isinstance(feature.size, int) else list(feature.size)
    if len(keys) != len(sizes):
        raise ValueError(
            f"SparseFeature {key!r} has {len(keys)} index keys and {len(sizes)} sizes; there must "
            "be as many"
        )
    values, splits = _rows(serialized, feature.value_key, _checked_dtype(key, feature))
    rows, _, lengths = _row_numbers(splits)
    columns = [rows]
    for name in keys:
        columns.append(_rows(serialized, name, dtypes.int64)[0])
    indices = call("stack", columns, {"axis": 1})
    ends = convert_to_tensor(sizes, dtypes.int64)
    rows_first = call("reshape", (_count(lengths), [1]), {})
    shape = call("concat", (rows_first, ends), {"axis": 0})
    found = tidemark.SparseTensor(indices, values, shape)
    return found if feature.already_sorted else tidemark.sparse.reorder(found)


def _ragged(serialized, key, feature):
    values, splits = _rows(serialized, feature.value_key or key, _checked_dtype(key, feature))
    return _ragged_of(serialized, values, splits, feature)


def _ragged_of(serialized, values, splits, feature):
    """Rows of values, and the rows that the partitions make of them."""
    kind = dtypes.as_dtype(feature.row_splits_dtype)

    def cut(inner, at):
        at = call("cast", (at,), {"dtype": kind})
        return tidemark.RaggedTensor.from_row_splits(inner, at, validate=False)

    inner, counts = values, splits[1:] - splits[:-1]
    for partition in reversed(tuple(feature.partitions)):
        lengths, counts = partition.rows(serialized, counts)
        inner = cut(inner, _ends(lengths))
    return cut(inner, _ends(counts))


def _ends(lengths):
    zero = convert_to_tensor([0], dtypes.int64)
    return call("concat", (zero, call("cumsum", (lengths,), {})), {"axis": 0})


def _sequence(serialized, key, feature):
    """Rows filled up with the default value to the longest."""
    if not feature.allow_missing:
        raise ValueError(
            f"Unsupported: FixedLenSequenceFeature requires allow_missing to be True, key {key!r}"
        )
    values, splits = _rows(serialized, key, _checked_dtype(key, feature))
    return _filled(values, splits, key, feature)


def _filled(values, splits, key, feature):
    dtype, shape = _checked_dtype(key, feature), _shape_of(key, feature)
    width = 1
    for size in shape:
        width *= size
    rows, places, lengths = _row_numbers(splits)
    _check_multiple(lengths, width, key)
    one = convert_to_tensor(width, dtypes.int64)
    count, longest = _count(lengths), call("floordiv", (_longest(lengths), one), {})
    default = feature.default_value
    default = ("" if dtype == dtypes.string else 0) if default is None else default
    total = count * longest * one
    filling = call("reshape", (total, [1]), {})
    filled = call("fill", (filling, convert_to_tensor(default, dtype=dtype)), {})
    # Values come behind the filling; each place takes its value's or its filling's number.
    places = call("expand_dims", (rows * (longest * one) + places,), {"axis": -1})
    numbers = call(
        "tensor_scatter_nd_update", (_numbers(total), places, total + _numbers(_count(values))), {}
    )
    both = call("concat", (filled, values), {"axis": 0})
    sizes = call("stack", (count, longest), {"axis": 0})
    sizes = call("concat", (sizes, convert_to_tensor(shape, dtypes.int64)), {"axis": 0})
    return call("reshape", (call("gather", (both, numbers), {}), sizes), {})


def _check_multiple(lengths, width, key):
    text = f"[parse_example] the number of values of feature {key!r} must be a multiple of {width}"
    if width == 0:
        raise ValueError(text)
    if is_symbolic(lengths):
        rest = call("floormod", (lengths, convert_to_tensor(width, dtypes.int64)), {})
        tidemark.debugging.assert_equal(rest, call("zeros_like", (rest,), {}), message=text)
    elif (lengths.numpy() % width).any():
        raise ValueError(text)


_KINDS = {
    FixedLenFeature: _fixed,
    VarLenFeature: _sparse,
    RaggedFeature: _ragged,
    FixedLenSequenceFeature: _sequence,
    SparseFeature: _indexed,
}


def _parsed(serialized, features):
    out = {}
    for key in sorted(features):
        feature = features[key]
        parse = _KINDS.get(type(feature))
        if parse is None:
            raise ValueError(f"Invalid feature {key}:{feature}.")
        out[key] = parse(serialized, key, feature)
    return out


@export("tf.io.parse_example")
def parse_example(serialized, features, example_names=None, name=None):
    """The features of serialized Example messages, by name."""
    if not features:
        raise ValueError("Argument `features` cannot be None.")
    serialized = convert_to_tensor(serialized, dtype=dtypes.string)
    if serialized.ndim == 0:
        return parse_single_example(serialized, features)
    if serialized.ndim != 1:
        raise ValueError(
            f"Input serialized must be a vector or a scalar, got shape {serialized.shape}"
        )
    return _parsed(serialized, features)


def _first(value):
    """The only row of a batch of one."""
    if hasattr(value, "dense_shape"):
        return tidemark.SparseTensor(value.indices[:, 1:], value.values, value.dense_shape[1:])
    return value.values if hasattr(value, "row_splits") else value[0]


@export("tf.io.parse_single_example")
def parse_single_example(serialized, features, example_names=None, name=None):
    """The features of one serialized Example message, by name."""
    if not features:
        raise ValueError("Argument `features` cannot be None.")
    serialized = convert_to_tensor(serialized, dtype=dtypes.string)
    if serialized.ndim != 0:
        raise ValueError(f"Input serialized must be a scalar, got shape {serialized.shape}")
    batch = _parsed(call("reshape", (serialized, [1]), {}), features)
    return {key: _first(value) for key, value in batch.items()}
