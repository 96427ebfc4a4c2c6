"""Values as tensors of the dtypes that NumPy would give them, and dtypes that go together."""

from __future__ import annotations

import numbers

import numpy as np

import tidemark as tf
from tidemark import dtypes
from tidemark._tidemark import Tensor


def is_tensor(value):
    return isinstance(value, (Tensor, tf.Variable))


def array_of(value, dtype=None):
    """The value as a tensor; what has no dtype of its own gets NumPy's (int64, float64)."""
    if isinstance(value, (list, tuple)) and any(is_tensor(v) for v in tf.nest.flatten(value)):
        items = together(*(array_of(item) for item in value))
        value = tf.stack(items)
    elif not is_tensor(value):
        value = tf.convert_to_tensor(np.asarray(value))
    else:
        value = tf.convert_to_tensor(value)
    if dtype is None or value.dtype == kind_of(dtype):
        return value
    return tf.cast(value, kind_of(dtype))


def kind_of(dtype):
    """A dtype by any of its names; Python's types are NumPy's widest."""
    if isinstance(dtype, type) and dtype in (int, float, complex, bool):
        dtype = np.dtype(dtype)
    return dtypes.as_dtype(dtype)


def _numpy_kind(value):
    """What NumPy's rules are asked about: numbers themselves, else a dtype."""
    if isinstance(value, numbers.Number) and not isinstance(value, np.generic):
        return value
    if isinstance(value, dtypes.DType):
        return value.as_numpy_dtype
    if is_tensor(value):
        return value.dtype.as_numpy_dtype
    if isinstance(value, (type, np.dtype, str)):
        return np.dtype(value)
    return array_of(value).dtype.as_numpy_dtype


def result_type(*values):
    """The NumPy dtype that values, or dtypes, are brought to."""
    return np.result_type(*(_numpy_kind(value) for value in values))


def promote_types(type1, type2):
    """The smallest NumPy dtype that both fit into."""
    return np.promote_types(_numpy_kind(type1), _numpy_kind(type2))


def together(*values):
    """The values as tensors of one dtype."""
    kind = dtypes.as_dtype(result_type(*values))
    return [tf.cast(array_of(value), kind) for value in values]


def floating(value):
    """A tensor of floating-point or complex elements: integers become float64."""
    value = array_of(value)
    if value.dtype.is_floating or value.dtype.is_complex:
        return value
    return tf.cast(value, dtypes.float64)


def number(value):
    """A tensor of numbers: truth values become integers."""
    value = array_of(value)
    return tf.cast(value, dtypes.int64) if value.dtype == dtypes.bool else value


def axes_from_zero(axis, rank):
    """Axes counted from the first, as a list."""
    axes = [int(one) for one in np.atleast_1d(axis)]
    for one in axes:
        if not -rank <= one < rank:
            raise ValueError(f"axis {one} is out of bounds for an array of {rank} dimensions")
    return [one % rank for one in axes]
