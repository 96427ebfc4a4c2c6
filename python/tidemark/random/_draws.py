"""Draws: the one place that knows the random ops.

A draw takes its numbers from a seed, two integers that decide them all, or goes on with the
process's own stream (``Stream()``) or that of an op seed (``Stream(7)``).
"""

from __future__ import annotations

from typing import NamedTuple

from tidemark import dtypes
from tidemark._tensor.creation import shape_tensor
from tidemark._tidemark import Tensor, call, computes_now, convert
from tidemark.dtypes import as_dtype

_FLOATS = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
_INTEGERS = (dtypes.int32, dtypes.int64)
_FULL = (*_INTEGERS, dtypes.uint32, dtypes.uint64)


class Stream(NamedTuple):
    """Numbers that go on from draw to draw."""

    op_seed: int | None = None


def _draw(op, shape, source, inputs, attrs):
    if isinstance(source, Stream):
        return call(f"random_{op}", (shape, *inputs), {**attrs, "seed": source.op_seed})
    return call(f"stateless_random_{op}", (shape, source, *inputs), attrs)


def _checked(dtype, allowed):
    dtype = as_dtype(dtype)
    if dtype not in allowed:
        raise ValueError(
            f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are {tuple(allowed)}."
        )
    return dtype


def _as_number(value, dtype):
    """A number that the draw itself can apply; None for tensors that may be asked for gradients,
    are symbolic or have another type."""
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, Tensor) and value.ndim == 0 and value.dtype == dtype and computes_now():
        return float(value)
    return None


def _normal(op, shape, source, mean, stddev, dtype):
    dtype = as_dtype(dtype)
    if not dtype.is_floating:
        convert(float(mean), dtype._enum)  # TensorFlow's error: the mean is not of the type
    dtype, shape = _checked(dtype, _FLOATS), shape_tensor(shape)
    center, spread = _as_number(mean, dtype), _as_number(stddev, dtype)
    if center is not None and spread is not None:
        attrs = {"mean": center, "stddev": spread, "dtype": dtype._enum}
        return _draw(op, shape, source, (), attrs)
    plain = _draw(op, shape, source, (), {"dtype": dtype._enum})
    return plain * _bound(stddev, dtype) + _bound(mean, dtype)


def normal(shape, source, mean, stddev, dtype):
    return _normal("normal", shape, source, mean, stddev, dtype)


def truncated_normal(shape, source, mean, stddev, dtype):
    return _normal("truncated_normal", shape, source, mean, stddev, dtype)


def _bound(value, dtype):
    return value if isinstance(value, Tensor) else convert(value, dtype._enum)


def uniform(shape, source, minval, maxval, dtype):
    """Numbers in [minval, maxval); of integers, maxval has to be given."""
    dtype = _checked(dtype, (*_FLOATS, *_INTEGERS))
    minval, shape = 0 if minval is None else minval, shape_tensor(shape)
    if dtype.is_integer:
        if maxval is None:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        bounds = (_bound(minval, dtype), _bound(maxval, dtype))
        return _draw("uniform_int", shape, source, bounds, {})
    maxval = 1.0 if maxval is None else maxval
    least, most = _as_number(minval, dtype), _as_number(maxval, dtype)
    if least is not None and most is not None:
        attrs = {"minval": least, "maxval": most, "dtype": dtype._enum}
        return _draw("uniform", shape, source, (), attrs)
    low, high = _bound(minval, dtype), _bound(maxval, dtype)
    return _draw("uniform", shape, source, (), {"dtype": dtype._enum}) * (high - low) + low


def full_integers(shape, source, dtype):
    """Integers over the whole range of their type."""
    dtype = _checked(dtype, _FULL)
    return _draw("full_int", shape_tensor(shape), source, (), {"dtype": dtype._enum})


def shuffle(value, source):
    """The slices along the first dimension in random order."""
    return _draw("shuffle", value, source, (), {})


def _parameters(shape, *values, dtype):
    """A shape tensor, and parameters of that shape; those that have it in common stay scalars."""
    shape = shape_tensor(shape)
    given = [_bound(value, dtype) for value in values]
    given = [v if v.dtype == dtype else call("cast", (v,), {"dtype": dtype._enum}) for v in given]
    return shape, [call("broadcast_to", (v, shape), {}) if v.ndim else v for v in given]


def gamma(shape, source, alpha, beta, dtype):
    """Gamma numbers of a shape that alpha and beta broadcast to."""
    dtype = _checked(dtype, _FLOATS)
    shape, (alpha,) = _parameters(shape, alpha, dtype=dtype)
    plain = _draw("gamma", shape, source, (alpha,), {})
    if beta is None:
        return plain
    smallest = convert({"float16": 6e-8, "float64": 2.3e-308}.get(dtype.name, 1.2e-38), dtype._enum)
    scaled = plain / _bound(beta, dtype)
    return call("maximum", (scaled, smallest), {})  # a gamma number is never 0


def poisson(shape, source, lam, dtype):
    """Poisson numbers of a shape that the means broadcast to."""
    dtype = _checked(dtype, (*_FLOATS, *_INTEGERS))
    shape, (lam,) = _parameters(shape, lam, dtype=dtypes.float64)
    return _draw("poisson", shape, source, (lam,), {"dtype": dtype._enum})


def binomial(shape, source, counts, probs, dtype):
    """Binomial numbers of a shape that counts and probabilities broadcast to."""
    dtype = _checked(dtype, (*_FLOATS, *_INTEGERS))
    shape, pair = _parameters(shape, counts, probs, dtype=dtypes.float64)
    return _draw("binomial", shape, source, pair, {"dtype": dtype._enum})
