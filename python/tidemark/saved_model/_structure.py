"""Arguments and results as text: nested values whose leaves are specs and plain Python values."""

from __future__ import annotations

import collections
import importlib

from tidemark import nest
from tidemark._tensor.specs import TensorSpec, VariableSpec
from tidemark.dtypes import DType, as_dtype
from tidemark.errors import DataLossError, InvalidArgumentError
from tidemark.tensor_shape import TensorShape

# Classes of composite values, by module: few models have one, so none is imported before.
_SPECS = {
    "RaggedTensorSpec": "tidemark.ragged._tensor",
    "SparseTensorSpec": "tidemark.sparse._tensor",
    "IndexedSlicesSpec": "tidemark._tensor.specs",
}
_PLAIN = (bool, int, float, str, type(None))
_NUMBERS = {"int": int, "float": float, "complex": complex}


def _spec_class(name):
    return getattr(importlib.import_module(_SPECS[name]), name)


class NumberSlot:
    """A place where any Python number of a type goes."""

    def __init__(self, kind):
        self.kind = kind


def _sizes(shape):
    return None if shape.rank is None else shape.as_list()


def encode(value):
    """The value as what JSON can hold; InvalidArgumentError for what no file can hold."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, NumberSlot):
        return {"number": value.kind.__name__}
    if isinstance(value, VariableSpec):
        raise InvalidArgumentError(None, None, f"{value!r} cannot be saved as an argument")
    if isinstance(value, TensorSpec):
        return {"spec": [_sizes(value.shape), value.dtype.name, value.name]}
    if type(value).__name__ in _SPECS:
        parts = [encode(part) for part in value._serialize()]
        return {"composite": [type(value).__name__, parts]}
    if isinstance(value, TensorShape):
        return {"shape": _sizes(value)}
    if isinstance(value, DType):
        return {"dtype": value.name}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, dict):
        kind = "ordered" if isinstance(value, collections.OrderedDict) else "dict"
        return {kind: [[encode(key), encode(part)] for key, part in value.items()]}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        parts = [encode(part) for part in value]
        return {"named": [type(value).__name__, list(value._fields), parts]}
    if isinstance(value, (list, tuple)) or nest.is_nested(value):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [encode(part) for part in value]}
    raise InvalidArgumentError(
        None, None, f"a {type(value).__name__} among the arguments or results cannot be saved"
    )


def _decode_pairs(data):
    return [(decode(key), decode(part)) for key, part in data]


_DECODERS = {
    "number": lambda data: NumberSlot(_NUMBERS[data]),
    "spec": lambda data: TensorSpec(data[0], as_dtype(data[1]), data[2]),
    "composite": lambda data: _spec_class(data[0])(*map(decode, data[1])),
    "shape": TensorShape,
    "dtype": as_dtype,
    "bytes": bytes.fromhex,
    "dict": lambda data: dict(_decode_pairs(data)),
    "ordered": lambda data: collections.OrderedDict(_decode_pairs(data)),
    "named": lambda data: collections.namedtuple(data[0], data[1])(*map(decode, data[2])),
    "tuple": lambda data: tuple(map(decode, data)),
    "list": lambda data: list(map(decode, data)),
}


def decode(data):
    """What ``encode`` was given; DataLossError for what it cannot have written."""
    if isinstance(data, _PLAIN):
        return data
    try:
        ((kind, inside),) = data.items()
        return _DECODERS[kind](inside)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise DataLossError(None, None, f"the saved structure is damaged: {error}") from None
