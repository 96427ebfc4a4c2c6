"""Classes drawn as negative examples: ``tf.random.log_uniform_candidate_sampler`` and its kin."""

from __future__ import annotations

import functools
import math as _math

import tidemark
from tidemark import dtypes
from tidemark._export import export
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tidemark import call, convert
from tidemark.errors import InvalidArgumentError
from tidemark.random import _draws
from tidemark.random._state import as_int64


def _float64(value):
    return convert(value, dtypes.float64._enum)


class _Distribution:
    """Classes 0, 1, … with probabilities."""

    def __init__(self, size):
        self.size = size

    def all_probabilities(self):
        """Of every class, in order."""
        return self.probability(tidemark.range(self.size, dtype=dtypes.int64))


class _Uniform(_Distribution):
    key = "uniform"

    def probability(self, classes):
        return cast(classes, dtypes.float64) * 0.0 + 1.0 / self.size

    def from_even(self, even):
        return cast(call("floor", (even * float(self.size),), {}), dtypes.int64)


class _LogUniform(_Distribution):
    """P(class) = log(1 + 1 / (class + 1)) / log(size + 1): as words sorted by their frequency."""

    key = "log_uniform"

    def probability(self, classes):
        above = _float64(1.0) / (cast(classes, dtypes.float64) + 1.0)
        return call("log1p", (above,), {}) * (1.0 / _math.log1p(self.size))

    def from_even(self, even):
        value = call("exp", (even * _math.log1p(self.size),), {})
        below = cast(call("floor", (value,), {}), dtypes.int64) - 1
        return tidemark.clip_by_value(below, 0, self.size - 1)


class _Unigram(_Distribution):
    def __init__(self, weights):
        super().__init__(len(weights))
        total = float(sum(weights))
        if total <= 0 or min(weights) < 0:
            raise InvalidArgumentError(
                None, None, "[candidate_sampler] unigrams must not be negative, and not all 0"
            )
        self.key = tuple(w / total for w in weights)

    def probability(self, classes):
        return call("gather", (_float64(list(self.key)), classes), {})

    def from_even(self, even):
        bounds = call("cumsum", (_float64(list(self.key)),), {})
        found = tidemark.searchsorted(bounds, even, side="right", out_type=dtypes.int64)
        return tidemark.clip_by_value(found, 0, self.size - 1)


@functools.lru_cache(maxsize=64)
def _tries_for(kind, key, size, count):
    """How many draws are expected until ``count`` different classes have come."""
    distribution = _Unigram(key) if kind is _Unigram else kind(size)
    log_miss = call("log1p", (-distribution.all_probabilities(),), {})

    def different(tries):
        return float(-call("sum", (call("expm1", (log_miss * tries,), {}),), {}))

    low, high = float(count), 2.0 * count
    while different(high) < count and high < 1e12:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if different(middle) < count else (low, middle)
    return high


def _expected(distribution, classes, num_sampled, unique):
    """How often each class is expected among the sampled ones."""
    p = distribution.probability(classes)
    if not unique:
        return cast(p * float(num_sampled), dtypes.float32)
    kind = type(distribution)
    tries = _tries_for(kind, distribution.key, distribution.size, num_sampled)
    return cast(-call("expm1", (call("log1p", (-p,), {}) * tries,), {}), dtypes.float32)


def _sampled(distribution, num_sampled, unique, seed):
    source = _draws.Stream(None if seed is None else as_int64(seed))
    if not unique:
        even = _draws.uniform([num_sampled], source, 0.0, 1.0, dtypes.float64)
        return distribution.from_even(even)
    # The largest of the log probabilities plus Gumbel noise: as drawing until all are different.
    even = _draws.uniform([distribution.size], source, 1e-300, 1.0, dtypes.float64)
    noise = -call("log", (-call("log", (even,), {}),), {})
    scores = call("log", (distribution.all_probabilities(),), {}) + noise
    return cast(call("top_k", (scores, num_sampled), {})[1], dtypes.int64)


def _sample(name, distribution, true_classes, num_true, num_sampled, unique, seed):
    true_classes = convert_to_tensor(true_classes, dtype="int64")
    shape = true_classes._shape_tuple()
    if len(shape) != 2 or shape[1] != num_true:
        raise InvalidArgumentError(
            None, None, f"[{name}] true_classes must have shape [batch, {num_true}], got {shape}"
        )
    if num_sampled < 1 or (unique and num_sampled > distribution.size):
        raise InvalidArgumentError(
            None,
            None,
            f"[{name}] num_sampled must be from 1 to the number of classes, {distribution.size}, "
            f"got {num_sampled}",
        )
    sampled = _sampled(distribution, int(num_sampled), unique, seed)
    return (
        sampled,
        _expected(distribution, true_classes, int(num_sampled), unique),
        _expected(distribution, sampled, int(num_sampled), unique),
    )


@export("tf.random.uniform_candidate_sampler")
def uniform_candidate_sampler(
    true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None
):
    """Classes drawn with equal probabilities; how often they and the true ones are expected."""
    what = _Uniform(int(range_max))
    return _sample("uniform_candidate_sampler", what, true_classes, num_true, num_sampled, unique,
                   seed)  # fmt: skip


@export("tf.random.log_uniform_candidate_sampler")
def log_uniform_candidate_sampler(
    true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None
):
    """Classes drawn as words sorted by frequency come; how often they and the true ones are
    expected."""
    what = _LogUniform(int(range_max))
    return _sample("log_uniform_candidate_sampler", what, true_classes, num_true, num_sampled,
                   unique, seed)  # fmt: skip


@export("tf.random.fixed_unigram_candidate_sampler", "tf.nn.fixed_unigram_candidate_sampler")
def fixed_unigram_candidate_sampler(
    true_classes, num_true, num_sampled, unique, range_max, vocab_file="", distortion=1.0,
    num_reserved_ids=0, num_shards=1, shard=0, unigrams=(), seed=None, name=None,
):  # fmt: skip
    """Classes drawn with given frequencies; how often they and the true ones are expected."""
    if vocab_file or num_shards != 1:
        raise tidemark.errors.UnimplementedError(
            None, None, "[fixed_unigram_candidate_sampler] takes `unigrams`, in one shard"
        )
    weights = [0.0] * int(num_reserved_ids) + [float(w) ** distortion for w in unigrams]
    if len(weights) != range_max:
        raise InvalidArgumentError(
            None,
            None,
            f"[fixed_unigram_candidate_sampler] there must be {range_max} frequencies, the "
            f"reserved ids counted, got {len(weights)}",
        )
    return _sample("fixed_unigram_candidate_sampler", _Unigram(weights), true_classes, num_true,
                   num_sampled, unique, seed)  # fmt: skip


@export("tf.random.all_candidate_sampler", "tf.nn.all_candidate_sampler")
def all_candidate_sampler(true_classes, num_true, num_sampled, unique, seed=None, name=None):
    """All classes, each expected once."""
    true_classes = convert_to_tensor(true_classes, dtype="int64")
    sampled = tidemark.range(int(num_sampled), dtype=dtypes.int64)
    ones = cast(call("ones_like", (true_classes,), {}), dtypes.float32)
    return sampled, ones, call("fill", ([int(num_sampled)], convert(1.0)), {})
