"""Examples into tensors: ``tf.io.parse_example`` and the descriptions of features."""

from __future__ import annotations

import collections

import numpy as _np

from tidemark import dtypes
from tidemark._creation import convert_to_tensor
from tidemark._export import export
from tidemark._tidemark import call
from tidemark.errors import UnimplementedError


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


def _row_numbers(splits):
    """The row and the place in it of each value."""
    lengths = _np.diff(splits)
    rows = _np.repeat(_np.arange(len(lengths)), lengths)
    return rows, _np.arange(splits[-1]) - _np.repeat(splits[:-1], lengths), lengths


def _sparse(serialized, key, feature):
    from tidemark import SparseTensor

    values, splits = _rows(serialized, key, _checked_dtype(key, feature))
    rows, places, lengths = _row_numbers(splits.numpy())
    indices = _np.stack([rows, places], axis=1).astype(_np.int64)
    return SparseTensor(indices, values, [len(lengths), int(lengths.max(initial=0))])


def _ragged(serialized, key, feature):
    from tidemark import RaggedTensor

    if feature.partitions:
        raise UnimplementedError(
            None, None, "[parse_example] RaggedFeature with partitions is not supported"
        )
    values, splits = _rows(serialized, feature.value_key or key, _checked_dtype(key, feature))
    splits = call("cast", (splits,), {"dtype": dtypes.as_dtype(feature.row_splits_dtype)})
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def _sequence(serialized, key, feature):
    """Rows filled up with the default value to the longest."""
    dtype, shape = _checked_dtype(key, feature), _shape_of(key, feature)
    if not feature.allow_missing:
        raise ValueError(
            f"Unsupported: FixedLenSequenceFeature requires allow_missing to be True, key {key!r}"
        )
    values, splits = _rows(serialized, key, dtype)
    width = 1
    for size in shape:
        width *= size
    rows, places, lengths = _row_numbers(splits.numpy())
    if width == 0 or (lengths % width).any():
        raise ValueError(
            f"[parse_example] the number of values of feature {key!r} must be a multiple of {width}"
        )
    longest = int(lengths.max(initial=0)) // width
    default = feature.default_value
    default = ("" if dtype == dtypes.string else 0) if default is None else default
    filled = call(
        "fill", ([len(lengths) * longest * width], convert_to_tensor(default, dtype=dtype)), {}
    )
    places = (rows * (longest * width) + places).astype(_np.int64)
    if len(places):
        # Values come behind the filling; each place takes its value's or its filling's number.
        numbers = _np.arange(len(lengths) * longest * width)
        numbers[places] = len(numbers) + _np.arange(len(places))
        both = call("concat", (filled, values), {"axis": 0})
        filled = call("gather", (both, numbers), {})
    return call("reshape", (filled, [len(lengths), longest, *shape]), {})


_KINDS = {
    FixedLenFeature: _fixed,
    VarLenFeature: _sparse,
    RaggedFeature: _ragged,
    FixedLenSequenceFeature: _sequence,
}


def _parsed(serialized, features):
    out = {}
    for key in sorted(features):
        feature = features[key]
        parse = _KINDS.get(type(feature))
        if parse is None:
            if isinstance(feature, SparseFeature):
                raise UnimplementedError(
                    None, None, "[parse_example] SparseFeature is not supported"
                )
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
        from tidemark import SparseTensor

        return SparseTensor(value.indices[:, 1:], value.values, value.dense_shape[1:])
    return value[0]


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
