"""Draws from a seed: the one place that knows the ops."""

from __future__ import annotations

from tidemark import dtypes
from tidemark._creation import shape_tensor
from tidemark._tidemark import Tensor, call, convert
from tidemark.dtypes import as_dtype

_FLOATS = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
_INTEGERS = (dtypes.int32, dtypes.int64)
_FULL = (*_INTEGERS, dtypes.uint32, dtypes.uint64)


def _checked(dtype, allowed):
    dtype = as_dtype(dtype)
    if dtype not in allowed:
        raise ValueError(
            f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are {tuple(allowed)}."
        )
    return dtype


def _bound(value, dtype):
    return value if isinstance(value, Tensor) else convert(value, dtype._enum)


def normal(shape, seed, mean, stddev, dtype):
    dtype = as_dtype(dtype)
    mean, stddev = _bound(mean, dtype), _bound(stddev, dtype)
    _checked(dtype, _FLOATS)
    attrs = {"dtype": dtype._enum}
    return call("stateless_normal", (shape_tensor(shape), seed, mean, stddev), attrs)


def truncated_normal(shape, seed, mean, stddev, dtype):
    dtype = as_dtype(dtype)
    mean, stddev = _bound(mean, dtype), _bound(stddev, dtype)
    _checked(dtype, _FLOATS)
    attrs = {"dtype": dtype._enum}
    return call("stateless_truncated_normal", (shape_tensor(shape), seed, mean, stddev), attrs)


def uniform(shape, seed, minval, maxval, dtype):
    dtype = _checked(dtype, (*_FLOATS, *_INTEGERS))
    if dtype.is_integer and maxval is None:
        raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
    low = _bound(0 if minval is None else minval, dtype)
    high = _bound(1 if maxval is None else maxval, dtype)
    attrs = {"dtype": dtype._enum}
    return call("stateless_uniform", (shape_tensor(shape), seed, low, high), attrs)


def full_integers(shape, seed, dtype):
    """Integers over the whole range of their type."""
    dtype = _checked(dtype, _FULL)
    return call("stateless_uniform_full_int", (shape_tensor(shape), seed), {"dtype": dtype._enum})


def shuffle(value, seed):
    return call("stateless_shuffle", (value, seed), {})
