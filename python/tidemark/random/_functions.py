"""Draws from the program's own stream, and draws that depend on a given seed alone."""

from __future__ import annotations

import tidemark
from tidemark import _tidemark, dtypes
from tidemark._export import export
from tidemark._graph.tracing import is_symbolic
from tidemark._tensor.creation import cast, convert_to_tensor, shape_tensor
from tidemark._tidemark import Tensor, call, convert
from tidemark.errors import InvalidArgumentError
from tidemark.random import _draws, _state
from tidemark.random._state import as_int64, remember_seed


@export("tf.random.set_seed")
def set_seed(seed):
    """Makes every draw from here on the same in every run."""
    _tidemark.set_random_seed(as_int64(seed))
    remember_seed(as_int64(seed))


def _stream(seed):
    seed = None if seed is None else as_int64(seed)
    return _draws.Stream(seed if _state.seed_of_draw is None else _state.seed_of_draw(seed))


# --- drawing on and on ---------------------------------------------------------------------------


@export("tf.random.normal")
def normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Numbers of the normal distribution."""
    return _draws.normal(shape, _stream(seed), mean, stddev, dtype)


@export("tf.random.truncated_normal")
def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Numbers of the normal distribution; none further from the mean than two deviations."""
    return _draws.truncated_normal(shape, _stream(seed), mean, stddev, dtype)


@export("tf.random.uniform")
def uniform(shape, minval=0, maxval=None, dtype=dtypes.float32, seed=None, name=None):
    """Numbers spread evenly from ``minval`` up to, not including, ``maxval``."""
    return _draws.uniform(shape, _stream(seed), minval, maxval, dtype)


@export("tf.random.shuffle")
def shuffle(value, seed=None, name=None):
    """The slices along the first dimension in random order."""
    value = convert_to_tensor(value)
    return _draws.shuffle(value, _stream(seed)) if value.ndim else value


@export("tf.random.categorical")
def categorical(logits, num_samples, dtype=None, seed=None, name=None):
    """Classes drawn with probabilities softmax(logits), one row of samples a row of logits."""
    return _categorical(logits, num_samples, _stream(seed), dtype or dtypes.int64)


def _shape_then(shape, *parameters):
    """The shape, then that of the parameters broadcast together."""
    given = [convert_to_tensor(p) for p in parameters if p is not None]
    inner = tidemark.TensorShape([])
    for p in given:
        inner = tidemark.broadcast_static_shape(inner, p.shape)
    if inner.is_fully_defined():
        sizes = shape_tensor(inner.as_list())
    else:
        sizes = call("shape", (given[0],), {})
        for p in given[1:]:
            sizes = tidemark.broadcast_dynamic_shape(sizes, call("shape", (p,), {}))
    return call("concat", (shape_tensor(shape), sizes), {"axis": 0})


@export("tf.random.gamma")
def gamma(shape, alpha, beta=None, dtype=dtypes.float32, seed=None, name=None):
    """Gamma numbers, ``shape`` of them for each pair of alpha and beta."""
    return _draws.gamma(_shape_then(shape, alpha, beta), _stream(seed), alpha, beta, dtype)


@export("tf.random.poisson")
def poisson(shape, lam, dtype=dtypes.float32, seed=None, name=None):
    """Poisson numbers, ``shape`` of them for each mean."""
    return _draws.poisson(_shape_then(shape, lam), _stream(seed), lam, dtype)


# --- functions of the seed -----------------------------------------------------------------------


@export("tf.random.stateless_normal")
def stateless_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None,
                     alg="auto_select"):  # fmt: skip
    """Numbers of the normal distribution that depend on the seed alone."""
    return _draws.normal(shape, seed, mean, stddev, dtype)


@export("tf.random.stateless_truncated_normal")
def stateless_truncated_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None,
                               alg="auto_select"):  # fmt: skip
    """Truncated normal numbers that depend on the seed alone."""
    return _draws.truncated_normal(shape, seed, mean, stddev, dtype)


@export("tf.random.stateless_uniform")
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


@export("tf.random.stateless_gamma")
def stateless_gamma(shape, seed, alpha, beta=None, dtype=dtypes.float32, name=None):
    """Gamma numbers that depend on the seed alone."""
    return _draws.gamma(shape, seed, alpha, beta, dtype)


@export("tf.random.stateless_poisson")
def stateless_poisson(shape, seed, lam, dtype=dtypes.int32, name=None):
    """Poisson numbers that depend on the seed alone."""
    return _draws.poisson(shape, seed, lam, dtype)


@export("tf.random.stateless_binomial")
def stateless_binomial(shape, seed, counts, probs, output_dtype=dtypes.int32, name=None):
    """Binomial numbers that depend on the seed alone."""
    return _draws.binomial(shape, seed, counts, probs, output_dtype)


def _normal_cdf(x):
    half, root = convert(0.5, x._dtype_enum), convert(0.5**0.5, x._dtype_enum)
    return half * call("erfc", (-x * root,), {})


@export("tf.random.stateless_parameterized_truncated_normal")
def stateless_parameterized_truncated_normal(
    shape, seed, means=0.0, stddevs=1.0, minvals=-2.0, maxvals=2.0, name=None
):
    """Normal numbers between bounds, that depend on the seed alone."""
    means = convert_to_tensor(means)
    dtype = means.dtype if means.dtype.is_floating else dtypes.float32
    means, stddevs, low, high = (
        cast(convert_to_tensor(v), dtypes.float64) for v in (means, stddevs, minvals, maxvals)
    )
    low, high = (low - means) / stddevs, (high - means) / stddevs
    # Beyond 0 the upper tail would run out of digits: there the mirror image is drawn.
    zero = convert(0.0, dtypes.float64._enum)
    mirrored = call("greater", (low, zero), {})
    low, high = (
        call("select", (mirrored, -high, low), {}),
        call("select", (mirrored, -low, high), {}),
    )
    below, above = _normal_cdf(low), _normal_cdf(high)
    even = _draws.uniform(shape, seed, 0.0, 1.0, dtypes.float64)
    number = call("ndtri", (below + even * (above - below),), {})
    number = tidemark.clip_by_value(number, low, high)
    number = call("select", (mirrored, -number, number), {})
    return cast(number * stddevs + means, dtype)


@export("tf.random.stateless_categorical")
def stateless_categorical(logits, num_samples, seed, dtype=dtypes.int64, name=None):
    """Classes drawn with probabilities softmax(logits) that depend on the seed alone."""
    return _categorical(logits, num_samples, seed, dtype)


def _categorical(logits, num_samples, source, dtype):
    logits = convert_to_tensor(logits)
    if logits.ndim not in (None, 2):
        raise InvalidArgumentError(
            None, None, f"[categorical] logits should be a matrix, got shape {logits.shape}"
        )
    # The largest of logits plus Gumbel noise is a class with the right probability.
    wide = cast(logits, dtypes.float32)
    shape = _shape_of_draws(logits, num_samples)
    even = _draws.uniform(shape, source, 1e-20, 1.0, dtypes.float32)
    noise = -call("log", (-call("log", (even,), {}),), {})
    scores = call("expand_dims", (wide,), {"axis": 1}) + noise
    return call("argmax", (scores,), {"axis": 2, "output_type": dtypes.enum_of(dtype)})


def _shape_of_draws(logits, count):
    """Sizes of one number for each row, sample and class, where they are known; their tensor."""
    sizes = None if logits.ndim is None else logits._shape_tuple()
    if sizes is not None and None not in sizes and not is_symbolic(count):
        return sizes[0], int(count), sizes[1]
    rows, classes = tidemark.unstack(tidemark.shape(logits), 2)
    return tidemark.stack([rows, cast(convert_to_tensor(count), dtypes.int32), classes])


@export("tf.random.split", "tf.random.experimental.stateless_split")
def split(seed, num=2, alg="auto_select"):
    """``num`` seeds that depend on one."""
    seed = _seed_tensor(seed)
    return _draws.full_integers((int(num), 2), seed, seed.dtype)


@export("tf.random.fold_in", "tf.random.experimental.stateless_fold_in")
def fold_in(seed, data, alg="auto_select"):
    """A seed that depends on a seed and a number."""
    seed = _seed_tensor(seed)
    first = _draws.full_integers((1,), seed, seed.dtype)
    second = cast(convert_to_tensor(data), seed.dtype)
    return call("concat", (first, call("reshape", (second, (1,)), {})), {"axis": 0})


def _seed_tensor(seed):
    seed = seed if isinstance(seed, Tensor) else convert(seed)
    return seed if seed.dtype in (dtypes.int32, dtypes.int64) else cast(seed, dtypes.int64)


@export("tf.random.experimental.stateless_shuffle")
def stateless_shuffle(value, seed, alg="auto_select", name=None):
    """The slices along the first dimension in an order that depends on the seed alone."""
    value = convert_to_tensor(value)
    return _draws.shuffle(value, seed) if value.ndim else value
