"""Dropout: elements set to zero at random, the others scaled up."""

from __future__ import annotations

import tidemark
from tidemark._export import export
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tensor.static import sizes_of
from tidemark._tidemark import Tensor, call, convert
from tidemark.random._functions import uniform


@export("tf.nn.dropout")
def dropout(x, rate, noise_shape=None, seed=None, name=None):
    """Zeroes elements with probability ``rate`` and scales the others to keep the mean."""
    x = convert_to_tensor(x)
    if not x.dtype.is_floating:
        raise ValueError(
            "`x.dtype` must be a floating point tensor as `x` will be scaled. "
            f"Received: x.dtype={x.dtype!r}"
        )
    if not isinstance(rate, Tensor) and not 0 <= rate < 1:
        raise ValueError(f"`rate` must be a scalar tensor or a float in [0, 1). Received: {rate}")
    shape = noise_shape
    if noise_shape is None:
        shape = x._shape_tuple() if x.shape.is_fully_defined() else call("shape", (x,))
    keep = uniform(shape, seed=seed, dtype=x.dtype) >= cast(rate, x.dtype)
    zero = convert(0, x._dtype_enum)
    return call("select", (keep, x / (1 - cast(rate, x.dtype)), zero), {})


@export("tf.nn.experimental.stateless_dropout")
def stateless_dropout(x, rate, seed, rng_alg="auto_select", noise_shape=None, name=None):
    """Dropout whose pattern depends on the seed alone."""

    def sampler(shape, dtype):
        return tidemark.random.stateless_uniform(shape, seed=seed, dtype=dtype)

    return general_dropout(x, rate, sampler, noise_shape, name)


@export("tf.nn.experimental.general_dropout")
def general_dropout(x, rate, uniform_sampler, noise_shape=None, name=None):
    """Dropout with random numbers in [0, 1) from ``uniform_sampler(shape, dtype)``."""
    x = convert_to_tensor(x)
    if not x.dtype.is_floating:
        raise ValueError(
            "`x.dtype` must be a floating point tensor as `x` will be scaled. "
            f"Received: x.dtype={x.dtype!r}"
        )
    if isinstance(rate, (int, float)) and not 0 <= rate < 1:
        raise ValueError(f"`rate` must be a scalar tensor or a float in [0, 1). Received: {rate}")
    shape = sizes_of(x) if noise_shape is None else noise_shape
    rate = cast(rate, x.dtype)
    keep = uniform_sampler(shape, x.dtype) >= rate
    return call("select", (keep, x / (1 - rate), convert(0, x._dtype_enum)), {})
