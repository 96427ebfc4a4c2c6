"""Dropout: elements set to zero at random, the others scaled up."""

from __future__ import annotations

import tidemark
from tidemark._export import export
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tidemark import Tensor, call, convert
from tidemark.random._functions import uniform
from tidemark.tensor_shape import TensorShape


@export("tf.nn.dropout")
def dropout(x, rate, noise_shape=None, seed=None, name=None):
    """Zeroes elements with probability ``rate`` and scales the others to keep the mean."""

    def sampler(shape, dtype):
        return uniform(shape, seed=seed, dtype=dtype)

    return general_dropout(x, rate, sampler, noise_shape, name)


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
    rate = _checked_rate(rate, x)
    if isinstance(noise_shape, (list, tuple)) and any(isinstance(s, Tensor) for s in noise_shape):
        noise_shape = tidemark.stack(noise_shape)
    keep = uniform_sampler(_noise_shape(x, noise_shape), x.dtype) >= rate
    dropped = call("select", (keep, x / (1 - rate), convert(0, x._dtype_enum)), {})
    if isinstance(noise_shape, Tensor) and not dropped.shape.is_fully_defined():
        dropped = tidemark.ensure_shape(dropped, x.shape)  # the noise never makes it larger
    return dropped


def _checked_rate(rate, x):
    """The rate as a number of x's dtype."""
    if isinstance(rate, (int, float)):
        if not 0 <= rate < 1:
            raise ValueError(
                f"`rate` must be a scalar tensor or a float in [0, 1). Received: rate={rate}"
            )
        return cast(rate, x.dtype)
    rate = convert_to_tensor(rate)
    if rate.shape.rank not in (None, 0):
        raise ValueError(f"`rate` must be a scalar tensor. Received: rate={rate}")
    if rate.dtype != x.dtype and not rate.dtype.is_compatible_with(x.dtype):
        raise ValueError(
            f"`x.dtype` must be the same as `rate.dtype`. Received: x.dtype={x.dtype.name}, "
            f"rate.dtype={rate.dtype.name}"
        )
    return rate


def _noise_shape(x, given):
    """The shape of the random numbers: x's, where none is given, and where a size is None."""
    if isinstance(given, Tensor):
        return given
    if given is not None:
        sizes = TensorShape(given).as_list()
        own = x.shape.as_list() if x.shape.rank == len(sizes) else sizes
        sizes = [mine if size is None else size for size, mine in zip(sizes, own, strict=True)]
        known = TensorShape(sizes)
        if x.shape.rank is not None and tidemark.broadcast_static_shape(x.shape, known) != x.shape:
            raise ValueError(f"noise_shape {given} does not broadcast to the shape {x.shape} of x")
        if known.is_fully_defined():
            return sizes
        sized = call("shape", (x,))
        return tidemark.stack([sized[i] if s is None else s for i, s in enumerate(sizes)])
    return x._shape_tuple() if x.shape.is_fully_defined() else call("shape", (x,))
