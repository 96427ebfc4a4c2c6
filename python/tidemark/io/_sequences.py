"""Sequence examples into tensors: a context, and lists of features, one a frame."""

from __future__ import annotations

import numpy as np

import tidemark
from tidemark import _tidemark, dtypes
from tidemark._export import export
from tidemark._graph.tracing import is_symbolic
from tidemark._proto import wire
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import call
from tidemark.errors import InvalidArgumentError
from tidemark.io import _parsing
from tidemark.io._parsing import FixedLenSequenceFeature, RaggedFeature, VarLenFeature


def _fail(text):
    raise InvalidArgumentError(None, None, f"[parse_sequence_example] {text}")


def _lists(message):
    """The frames of each list of a SequenceExample, by key."""
    found = {}
    for number, _, value in wire.fields(message):
        for inner, _, entry in wire.fields(value) if number == 2 else ():
            if inner != 1:
                continue
            parts = {n: v for n, _, v in wire.fields(entry)}
            frames = [v for n, _, v in wire.fields(parts.get(2, b"")) if n == 1]
            found[bytes(parts.get(1, b"")).decode()] = frames
    return found


def _as_example(key, feature):
    """A message with this one feature."""
    entry = wire.bytes_field(1, key.encode()) + wire.bytes_field(2, bytes(feature))
    return wire.bytes_field(1, wire.bytes_field(1, entry))


def _frames(serialized, key, required):
    """Every frame of every list as an Example, and where each message's begin."""
    examples, splits = [], [0]
    for i, message in enumerate(np.array(serialized.numpy(), dtype=object).reshape(-1)):
        try:
            lists = _lists(message)
        except (wire.MalformedError, ValueError):
            _fail(f"Could not parse serialized sequence example {i}")
        if required and key not in lists:
            _fail(
                f"message {i} has no list {key!r}, which is required; FixedLenSequenceFeature with "
                "allow_missing=True lets it be empty"
            )
        examples += [_as_example(key, frame) for frame in lists.get(key, ())]
        splits.append(len(examples))
    made = convert_to_tensor(np.array(examples, object), dtype=dtypes.string)
    return [made, convert_to_tensor(splits, dtypes.int64)]


def _frames_of(serialized, key, required):
    if not is_symbolic(serialized):
        return _frames(serialized, key, required)
    specs = [(dtypes.string, (None,)), (dtypes.int64, (None,))]
    return _tidemark.python_call(lambda s: _frames(s, key, required), [serialized], specs, False)


def _fixed(examples, splits, key, feature):
    """[messages, longest, …], filled up, and how many frames each message has."""
    shape = _parsing._shape_of(key, feature)
    dtype = _parsing._checked_dtype(key, feature)
    none = convert_to_tensor([], dtype=dtype)
    attrs = {"key": key, "dense_shape": shape}
    frames = call("parse_example_fixed", (examples, none), attrs)
    width = 1
    for size in shape:
        width *= size
    values = call("reshape", (frames, [-1]), {})
    ends = splits * convert_to_tensor(width, dtypes.int64)
    return _parsing._filled(values, ends, key, feature), splits[1:] - splits[:-1]


def _sparse(examples, splits, key, feature):
    dtype = _parsing._checked_dtype(key, feature)
    values, inner = _parsing._rows(examples, key, dtype)
    frame, place, lengths = _parsing._row_numbers(inner)
    message, number, frames = _parsing._row_numbers(splits)
    columns = [call("gather", (message, frame), {}), call("gather", (number, frame), {}), place]
    sizes = [_parsing._count(frames), _parsing._longest(frames), _parsing._longest(lengths)]
    return tidemark.SparseTensor(
        call("stack", columns, {"axis": 1}), values, call("stack", sizes, {"axis": 0})
    )


def _ragged(examples, splits, key, feature):
    dtype = _parsing._checked_dtype(key, feature)
    values, inner = _parsing._rows(examples, feature.value_key or key, dtype)
    rows = _parsing._ragged_of(examples, values, inner, feature)
    kind = dtypes.as_dtype(feature.row_splits_dtype)
    outer = call("cast", (splits,), {"dtype": kind})
    return tidemark.RaggedTensor.from_row_splits(rows, outer, validate=False)


def _parsed_lists(serialized, features):
    found, lengths = {}, {}
    for key in sorted(features or {}):
        feature = features[key]
        required = isinstance(feature, FixedLenSequenceFeature) and not feature.allow_missing
        name = getattr(feature, "value_key", None) or key
        examples, splits = _frames_of(serialized, name, required)
        if isinstance(feature, FixedLenSequenceFeature):
            found[key], lengths[key] = _fixed(examples, splits, key, feature)
        elif isinstance(feature, VarLenFeature):
            found[key] = _sparse(examples, splits, key, feature)
        elif isinstance(feature, RaggedFeature):
            if feature.partitions:
                raise ValueError(
                    f"feature {key!r}: partitions of a RaggedFeature are for examples, not for the "
                    "lists of sequence examples here"
                )
            found[key] = _ragged(examples, splits, key, feature)
        else:
            raise ValueError(f"Unsupported sequence feature {key}:{feature}.")
    return found, lengths


def _checked(context_features, sequence_features):
    if not context_features and not sequence_features:
        raise ValueError(
            "Both context_features and sequence_features are None, but at least one should have "
            "values."
        )


@export("tf.io.parse_sequence_example")
def parse_sequence_example(
    serialized, context_features=None, sequence_features=None, example_names=None, name=None
):
    """The features of serialized SequenceExample messages: those of their contexts, those of their
    lists, and how many frames each message has of the lists that are filled up."""
    _checked(context_features, sequence_features)
    serialized = convert_to_tensor(serialized, dtype=dtypes.string)
    if serialized.ndim == 0:
        context, lists = parse_single_sequence_example(
            serialized, context_features, sequence_features
        )
        fixed = [k for k, f in (sequence_features or {}).items()
                 if isinstance(f, FixedLenSequenceFeature)]  # fmt: skip
        sizes = {k: call("shape", (lists[k],), {"out_type": dtypes.int64})[0] for k in fixed}
        return context, lists, sizes
    if serialized.ndim != 1:
        raise ValueError(
            f"Input serialized must be a vector or a scalar, got shape {serialized.shape}"
        )
    context = _parsing._parsed(serialized, context_features or {})
    lists, lengths = _parsed_lists(serialized, sequence_features)
    return context, lists, lengths


@export("tf.io.parse_single_sequence_example")
def parse_single_sequence_example(
    serialized, context_features=None, sequence_features=None, example_name=None, name=None
):
    """The features of one serialized SequenceExample message: those of its context and those of its
    lists."""
    _checked(context_features, sequence_features)
    serialized = convert_to_tensor(serialized, dtype=dtypes.string)
    if serialized.ndim != 0:
        raise ValueError(f"Input serialized must be a scalar, got shape {serialized.shape}")
    batch = call("reshape", (serialized, [1]), {})
    context = _parsing._parsed(batch, context_features or {})
    lists, _ = _parsed_lists(batch, sequence_features)
    return (
        {key: _parsing._first(value) for key, value in context.items()},
        {key: _parsing._first(value) for key, value in lists.items()},
    )
