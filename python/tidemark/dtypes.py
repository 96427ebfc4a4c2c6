"""Element types: ``tf.DType`` and the constants ``tf.float32``, ``tf.int64``, …

tf.float32.max                  # 3.4028235e+38
tf.as_dtype("int8").max         # 127
tf.float32 == np.float32        # True: compares with NumPy's types and with names
"""

from __future__ import annotations

import builtins

import numpy as np

from tidemark import _tidemark

# name, enum, size in bytes, NumPy type, kind. The enums are TensorFlow's.
_TABLE = (
    ("float32", 1, 4, np.float32, "f"),
    ("float64", 2, 8, np.float64, "f"),
    ("int32", 3, 4, np.int32, "i"),
    ("uint8", 4, 1, np.uint8, "u"),
    ("int16", 5, 2, np.int16, "i"),
    ("int8", 6, 1, np.int8, "i"),
    ("string", 7, 0, np.object_, "s"),
    ("complex64", 8, 8, np.complex64, "c"),
    ("int64", 9, 8, np.int64, "i"),
    ("bool", 10, 1, np.bool_, "b"),
    ("qint8", 11, 1, np.dtype([("qint8", "i1")]), "q"),
    ("quint8", 12, 1, np.dtype([("quint8", "u1")]), "q"),
    ("qint32", 13, 4, np.dtype([("qint32", "i4")]), "q"),
    ("bfloat16", 14, 2, "bfloat16", "f"),
    ("qint16", 15, 2, np.dtype([("qint16", "i2")]), "q"),
    ("quint16", 16, 2, np.dtype([("quint16", "u2")]), "q"),
    ("uint16", 17, 2, np.uint16, "u"),
    ("complex128", 18, 16, np.complex128, "c"),
    ("float16", 19, 2, np.float16, "f"),
    ("resource", 20, 0, None, "r"),
    ("variant", 21, 0, None, "r"),
    ("uint32", 22, 4, np.uint32, "u"),
    ("uint64", 23, 8, np.uint64, "u"),
    # Names that programs compare; no tensor has elements of these types.
    ("float8_e5m2", 24, 1, "float8_e5m2", "f"),
    ("float8_e4m3fn", 25, 1, "float8_e4m3fn", "f"),
    ("float8_e4m3fnuz", 26, 1, "float8_e4m3fnuz", "f"),
    ("float8_e4m3b11fnuz", 27, 1, "float8_e4m3b11fnuz", "f"),
    ("float8_e5m2fnuz", 28, 1, "float8_e5m2fnuz", "f"),
    ("int4", 29, 1, "int4", "i"),
    ("uint4", 30, 1, "uint4", "u"),
    ("int2", 31, 1, "int2", "i"),
    ("uint2", 32, 1, "uint2", "u"),
    ("float4_e2m1fn", 33, 1, "float4_e2m1fn", "f"),
)
_WITH_TENSORS = range(1, 24)  # the enums of types that tensors can have
_REFERENCE = 100  # what the enum of a type's reference has more than its own
_BY_ENUM = {row[1]: row for row in _TABLE}
_BFLOAT16_MAX = 3.3895313892515355e38
_NAMED_EXTREMES = {  # of types that NumPy knows by ml_dtypes alone: smallest, largest
    "bfloat16": (-_BFLOAT16_MAX, _BFLOAT16_MAX),
    "float8_e5m2": (-57344, 57344),
    "float8_e4m3fn": (-448, 448),
    "float8_e4m3fnuz": (-240, 240),
    "float8_e4m3b11fnuz": (-30, 30),
    "float8_e5m2fnuz": (-57344, 57344),
    "int4": (-8, 7),
    "uint4": (0, 15),
    "int2": (-2, 1),
    "uint2": (0, 3),
    "float4_e2m1fn": (-6, 6),
}


def _from_ml_dtypes(name):
    try:
        import ml_dtypes  # loaded on first use
    except ImportError as error:
        raise ImportError(
            f"NumPy has no {name} of its own; install the package ml_dtypes to exchange {name} "
            "arrays with NumPy, or cast to tf.float32 first"
        ) from error
    return getattr(ml_dtypes, name)


class DType:
    """The type of the elements of a tensor."""

    __slots__ = ("_enum", "_kind", "_name", "_numpy", "_size", "__weakref__")

    def __init__(self, type_enum, handle_data=None):
        number = int(type_enum)
        row = _BY_ENUM.get(number - _REFERENCE if number > _REFERENCE else number)
        if row is None:
            raise TypeError(f"{type_enum} does not correspond to a valid tensorflow::DataType")
        self._name, self._enum, self._size, self._numpy, self._kind = row
        if number > _REFERENCE:
            self._name, self._enum = f"{self._name}_ref", number

    name = property(lambda self: self._name, doc="The name: 'float32'.")
    as_datatype_enum = property(lambda self: self._enum, doc="TensorFlow's number of the type.")
    _type_enum = as_datatype_enum
    size = property(lambda self: self._size, doc="Bytes of one element; 0 for strings.")
    _is_ref_dtype = property(lambda self: self._enum > _REFERENCE)
    is_floating = property(lambda self: self._kind == "f")
    is_integer = property(lambda self: self._kind in "iu")
    is_unsigned = property(lambda self: self._kind == "u")
    is_complex = property(lambda self: self._kind == "c")
    is_bool = property(lambda self: self._kind == "b")
    is_numeric = property(lambda self: self._kind in "fiucq" and self._enum % _REFERENCE < 24)
    is_quantized = property(lambda self: self._kind == "q")
    is_numpy_compatible = property(lambda self: self._numpy is not None)

    @property
    def base_dtype(self):
        """The type that a reference refers to; of all others themselves."""
        return as_dtype(self._enum - _REFERENCE) if self._is_ref_dtype else self

    @property
    def as_numpy_dtype(self):
        """The NumPy type: ``numpy.float32``."""
        if isinstance(self._numpy, str):
            return _from_ml_dtypes(self._numpy)
        if self._numpy is None:
            raise TypeError(f"{self} has no type in NumPy")
        return self._numpy

    @property
    def real_dtype(self):
        """The type of the real part: float32 for complex64, itself for real types."""
        if self is complex64:
            return float32
        return float64 if self is complex128 else self

    @property
    def min(self):
        """The smallest value of the type."""
        return self._extreme("min", "minimum")

    @property
    def max(self):
        """The largest value of the type."""
        return self._extreme("max", "maximum")

    def _extreme(self, which, word):
        if isinstance(self._numpy, str):
            return _NAMED_EXTREMES[self._numpy][which == "max"]
        if self._kind in "iu":
            return int(getattr(np.iinfo(self._numpy), which))
        if self._kind == "f":
            return getattr(np.finfo(self._numpy), which)
        raise TypeError(f"Cannot find {word} value of {self} with type {self}.")

    @property
    def limits(self, clip_negative=True):
        """The range ``(min, max)`` of the values: of an image's, 0 to 1, for floating types."""
        if self._kind == "b":
            return (False, True)
        if isinstance(self._numpy, str) or self._numpy is np.float16:  # as in TensorFlow
            raise ValueError(f"{self} does not have defined limits.")
        if self._kind in "iu":
            return (0 if clip_negative else self.min, self.max)
        if self._kind == "f":
            return (0 if clip_negative else -1, 1)
        raise ValueError(f"{self} does not have defined limits.")

    def is_compatible_with(self, other):
        """Whether a tensor of type ``other`` can stand where this type is asked for."""
        return self._enum in ((other := as_dtype(other))._enum, other.base_dtype._enum)

    def is_subtype_of(self, other):
        return self == other

    def most_specific_common_supertype(self, types):
        """The type itself where all others are the same; None where they are not."""
        return self if all(self == other for other in types) else None

    def __eq__(self, other):
        if self is other:
            return True
        if isinstance(other, DType):
            return self._enum == other._enum
        if other is None:
            return False
        try:
            return self._enum == as_dtype(other)._enum
        except TypeError:
            return False

    def __hash__(self):
        return self._enum

    def __int__(self):
        return self._enum

    def __str__(self):
        return f"<dtype: '{self._name}'>"

    def __repr__(self):
        return f"tf.{self._name}"

    def __reduce__(self):
        return as_dtype, (self._name,)


float32, float64, int32, uint8 = DType(1), DType(2), DType(3), DType(4)
int16, int8, string, complex64 = DType(5), DType(6), DType(7), DType(8)
int64, bool, qint8, quint8 = DType(9), DType(10), DType(11), DType(12)
qint32, bfloat16, qint16, quint16 = DType(13), DType(14), DType(15), DType(16)
uint16, complex128, float16, resource = DType(17), DType(18), DType(19), DType(20)
variant, uint32, uint64 = DType(21), DType(22), DType(23)
half, double = float16, float64
_SMALL = tuple(DType(row[1]) for row in _TABLE if row[1] not in _WITH_TENSORS)

QUANTIZED_DTYPES = frozenset((qint8, quint8, qint16, quint16, qint32))

_ALL = (
    float32, float64, int32, uint8, int16, int8, string, complex64, int64, bool, qint8, quint8,
    qint32, bfloat16, qint16, quint16, uint16, complex128, float16, resource, variant, uint32,
    uint64,
)  # fmt: skip
_BY_NUMBER = {d._enum: d for d in (*_ALL, *_SMALL)}
_LOOKUP = {d._name: d for d in (*_ALL, *_SMALL)}  # by name, NumPy type and Python type
_LOOKUP.update({"half": half, "float": float32, "double": double})
_LOOKUP.update({d._numpy: d for d in _ALL if isinstance(d._numpy, type)})
_LOOKUP.update({float: float32, builtins.bool: bool, object: string, np.bytes_: string,
                np.str_: string})  # fmt: skip


def as_dtype(type_value):
    """The DType that a DType, a name, a NumPy type or one of TensorFlow's numbers stands for."""
    if type_value.__class__ is DType:
        return type_value
    try:
        found = _LOOKUP.get(type_value)
    except TypeError:  # not hashable
        found = None
    if found is not None:
        return found
    if isinstance(type_value, int) and type_value in _BY_NUMBER:
        return _BY_NUMBER[type_value]
    found = _reference(type_value) or _from_numpy(type_value)
    if found is None:
        raise TypeError(
            f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType."
        )
    return found


def _reference(value):
    """The type of references that a name or a number stands for, made once; None for others."""
    if isinstance(value, str) and value.removesuffix("_ref") in _LOOKUP:
        value = _LOOKUP[value.removesuffix("_ref")]._enum + _REFERENCE
    if not isinstance(value, int) or value - _REFERENCE not in _BY_NUMBER:
        return None
    made = _BY_NUMBER.setdefault(value, DType(value))
    return _LOOKUP.setdefault(made._name, made)


def _from_numpy(value):
    """The DType of what NumPy takes as a type, or None."""
    if isinstance(value, type) and not issubclass(value, np.generic):
        return None
    dtype = getattr(value, "dtype", None)  # of an array, a tensor, a scalar
    if isinstance(dtype, DType):
        return dtype
    try:
        dtype = np.dtype(dtype if isinstance(dtype, np.dtype) else value)
    except (TypeError, ValueError):
        return None
    if value is None:
        return None
    if dtype.kind in "SUO":
        return string
    if dtype.name in _NAMED_EXTREMES:
        return _LOOKUP[dtype.name]
    if dtype.names:  # TensorFlow's arrays of quantized numbers have one field
        return next((d for d in QUANTIZED_DTYPES if d._numpy == dtype), None)
    return _LOOKUP.get(dtype.type)


def enum_of(dtype):
    """TensorFlow's number of a type given in any form; 0, which means undecided, for None."""
    if dtype.__class__ is DType:
        return dtype._enum
    return 0 if dtype is None else as_dtype(dtype)._enum


_tidemark.set_dtype_objects([None, *map(_BY_NUMBER.get, _WITH_TENSORS)])
_tidemark.set_dtype_converter(as_dtype)

_BORROWED = ("cast", "complex", "saturate_cast")
__all__ = [d._name for d in _ALL] + ["DType", "as_dtype", "double", "half"]


def __getattr__(name):
    if name in _BORROWED:
        import tidemark  # it imports this module

        return getattr(tidemark, name)
    if name == "experimental":
        import types  # at the top it would be a name of tf.dtypes

        return types.SimpleNamespace(**{d._name: d for d in _SMALL})
    raise AttributeError(f"module 'tidemark.dtypes' has no attribute {name!r}")


def __dir__():
    return sorted([*__all__, *_BORROWED, "QUANTIZED_DTYPES", "experimental"])
