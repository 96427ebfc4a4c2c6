"""``tf.random``: random numbers, counter-based, so that they do not depend on the thread count.

    tf.random.set_seed(7)                               # the same numbers in every run
    x = tf.random.normal([2, 3])
    g = tf.random.Generator.from_seed(1)                # a stream of its own
    y = g.uniform([2], maxval=10, dtype=tf.int32)
    z = tf.random.stateless_normal([2], seed=[1, 2])    # a function of the seed alone

Every draw is made by one stateless op from a seed of two 64-bit numbers; what keeps state are small
counters here, in Python.
"""

from __future__ import annotations

from tidemark import dtypes
from tidemark._creation import cast, convert_to_tensor
from tidemark._export import namespace as _namespace
from tidemark._tidemark import Tensor, call, convert
from tidemark.random import _draws
from tidemark.random._state import GLOBAL as _GLOBAL
from tidemark.random.generator import (
    Algorithm,
    Generator,
    create_rng_state,
    get_global_generator,
    set_global_generator,
)

globals().update(_namespace("tf.random"))


def set_seed(seed):
    """Makes every draw from here on the same in every run; None makes them different again."""
    _GLOBAL.set_seed(seed)


# --- drawing on and on ---------------------------------------------------------------------------


def normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Numbers of the normal distribution."""
    return _draws.normal(shape, _GLOBAL.next_seed(seed), mean, stddev, dtype)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Numbers of the normal distribution; none further from the mean than two deviations."""
    return _draws.truncated_normal(shape, _GLOBAL.next_seed(seed), mean, stddev, dtype)


def uniform(shape, minval=0, maxval=None, dtype=dtypes.float32, seed=None, name=None):
    """Numbers spread evenly from ``minval`` up to, not including, ``maxval``."""
    return _draws.uniform(shape, _GLOBAL.next_seed(seed), minval, maxval, dtype)


def shuffle(value, seed=None, name=None):
    """The slices along the first dimension in random order."""
    value = convert_to_tensor(value)
    return _draws.shuffle(value, _GLOBAL.next_seed(seed)) if value.ndim else value


def categorical(logits, num_samples, dtype=None, seed=None, name=None):
    """Classes drawn with probabilities softmax(logits), one row of samples a row of logits."""
    return stateless_categorical(logits, num_samples, _GLOBAL.next_seed(seed), dtype or "int64")


# --- functions of the seed -----------------------------------------------------------------------


def stateless_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None,
                     alg="auto_select"):  # fmt: skip
    """Numbers of the normal distribution that depend on the seed alone."""
    return _draws.normal(shape, seed, mean, stddev, dtype)


def stateless_truncated_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None,
                               alg="auto_select"):  # fmt: skip
    """Truncated normal numbers that depend on the seed alone."""
    return _draws.truncated_normal(shape, seed, mean, stddev, dtype)


def stateless_uniform(shape, seed, minval=0, maxval=None, dtype=dtypes.float32, name=None,
                      alg="auto_select"):  # fmt: skip
    """Evenly spread numbers that depend on the seed alone."""
    dtype = dtypes.as_dtype(dtype)
    if dtype.is_integer:
        if (minval is None) != (maxval is None):
            raise ValueError(
                f"For integer `dtype` argument {dtype}, argument `minval` and `maxval` must be "
                f"both None or not None. Got `minval`={minval} and `maxval`={maxval}."
            )
        if maxval is None:
            return _draws.full_integers(shape, seed, dtype)
    return _draws.uniform(shape, seed, minval, maxval, dtype)


def stateless_categorical(logits, num_samples, seed, dtype=dtypes.int64, name=None):
    """Classes drawn with probabilities softmax(logits) that depend on the seed alone."""
    logits = convert_to_tensor(logits)
    if logits.ndim != 2:
        from tidemark.errors import InvalidArgumentError

        raise InvalidArgumentError(
            None, None, f"[categorical] logits should be a matrix, got shape {logits.shape}"
        )
    rows, classes = logits._shape_tuple()
    # The largest of logits plus Gumbel noise is a class with the right probability.
    wide = cast(logits, dtypes.float32)
    shape = (rows, int(num_samples), classes)
    even = _draws.uniform(shape, seed, 1e-20, 1.0, dtypes.float32)
    noise = -call("log", (-call("log", (even,), {}),), {})
    scores = call("expand_dims", (wide,), {"axis": 1}) + noise
    return call("argmax", (scores,), {"axis": 2, "output_type": dtypes.enum_of(dtype)})


def split(seed, num=2, alg="auto_select"):
    """``num`` seeds that depend on one."""
    seed = _seed_tensor(seed)
    return _draws.full_integers((int(num), 2), seed, seed.dtype)


def fold_in(seed, data, alg="auto_select"):
    """A seed that depends on a seed and a number."""
    seed = _seed_tensor(seed)
    first = _draws.full_integers((1,), seed, seed.dtype)
    second = cast(convert_to_tensor(data), seed.dtype)
    return call("concat", (first, call("reshape", (second, (1,)), {})), {"axis": 0})


def _seed_tensor(seed):
    seed = seed if isinstance(seed, Tensor) else convert(seed)
    return seed if seed.dtype in (dtypes.int32, dtypes.int64) else cast(seed, dtypes.int64)


def __getattr__(name):
    if name == "experimental":
        from importlib import import_module

        return import_module("tidemark.random.experimental")
    raise AttributeError(f"module 'tidemark.random' has no attribute {name!r}")
