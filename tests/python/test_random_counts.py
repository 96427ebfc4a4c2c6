"""Gamma, Poisson, binomial and bounded normal numbers have the distribution they should."""

import math

import numpy as np
import pytest

import tidemark as tf

N = 60_000


def chi_square(sample, log_pmf, top):
    """Observed against expected counts of the values that are expected often enough."""
    expected = np.array([math.exp(log_pmf(k)) for k in range(top + 1)]) * len(sample)
    observed = np.bincount(sample.astype(int), minlength=top + 1)[: top + 1]
    often = expected > 8
    assert often.any()
    return ((observed - expected)[often] ** 2 / expected[often]).sum(), int(often.sum())


def check_counts(sample, log_pmf, top):
    statistic, cells = chi_square(sample, log_pmf, top)
    assert statistic < cells + 5 * math.sqrt(2 * cells) + 10


def binomial_log_pmf(n, p):
    def log_pmf(k):
        if k > n:
            return -math.inf
        ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        return ways + k * math.log(p) + (n - k) * math.log1p(-p)

    return log_pmf


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.3), (10, 0.5), (40, 0.2), (40, 0.9), (100, 0.5), (1000, 0.02), (900, 0.7)]
)
def test_binomial(n, p):
    x = tf.random.stateless_binomial([N], [1, n], float(n), p)
    assert x.dtype is tf.int32
    assert x.numpy().min() >= 0 and x.numpy().max() <= n
    check_counts(x.numpy(), binomial_log_pmf(n, p), n)


@pytest.mark.parametrize("rate", [0.3, 4.0, 12.0, 80.0])
def test_poisson(rate):
    def log_pmf(k):
        return k * math.log(rate) - rate - math.lgamma(k + 1)

    tf.random.set_seed(5)
    top = int(rate + 10 * math.sqrt(rate) + 10)
    check_counts(tf.random.poisson([N], rate, tf.int64).numpy(), log_pmf, top)
    check_counts(tf.random.stateless_poisson([N], [3, 4], rate).numpy(), log_pmf, top)


@pytest.mark.parametrize("alpha", [0.1, 0.8, 1.0, 7.5])
def test_gamma(alpha):
    x = tf.random.stateless_gamma([N], [7, 1], alpha, dtype=tf.float64).numpy()
    limit = 6 * math.sqrt(alpha / N)
    assert abs(x.mean() - alpha) < limit
    assert abs(x.var() - alpha) < 0.1 * alpha + limit
    assert abs(np.log(x).mean() - float(tf.math.digamma(alpha))) < 0.05 / alpha
    half = tf.random.stateless_gamma([N], [7, 1], alpha, 2.0, tf.float64).numpy()
    np.testing.assert_allclose(half, x / 2)


def test_shapes():
    alpha, beta = [1.0, 2.0, 3.0], [[1.0], [2.0]]
    assert tf.random.gamma([4], alpha, beta).shape == (4, 2, 3)
    assert tf.random.gamma([], 1.0).shape == ()
    assert tf.random.poisson([4, 1], alpha).shape == (4, 1, 3)
    assert tf.random.stateless_gamma([4, 2, 3], [1, 2], alpha, beta).shape == (4, 2, 3)
    assert tf.random.stateless_poisson([2, 3], [1, 2], alpha).dtype is tf.int32
    counts = tf.random.stateless_binomial([5, 2, 2], [1, 2], [[10.0], [1000.0]], [0.0, 1.0])
    np.testing.assert_array_equal(counts.numpy(), np.tile([[0, 10], [0, 1000]], (5, 1, 1)))
    g = tf.random.Generator.from_seed(3)
    first = g.binomial([9], 20.0, 0.4)
    assert first.shape == (9,) and (first.numpy() != g.binomial([9], 20.0, 0.4).numpy()).any()
    for dtype in (tf.float16, tf.float32, tf.float64):
        assert tf.random.gamma([3], 2.0, dtype=dtype).dtype is dtype
    assert tf.random.gamma([0, 2], 2.0).shape == (0, 2)


def test_a_seed_repeats():
    for draw in (
        lambda s: tf.random.stateless_gamma([50], s, 0.7),
        lambda s: tf.random.stateless_poisson([50], s, 30.0),
        lambda s: tf.random.stateless_binomial([50], s, 300.0, 0.4),
        lambda s: tf.random.stateless_parameterized_truncated_normal([50], s),
    ):
        np.testing.assert_array_equal(draw([1, 2]).numpy(), draw([1, 2]).numpy())
        assert (draw([1, 2]).numpy() != draw([1, 3]).numpy()).any()


def test_impossible_parameters():
    assert np.isnan(tf.random.stateless_gamma([2], [1, 2], -1.0).numpy()).all()
    for count, p in ((-1.0, 0.5), (5.0, 1.5), (np.nan, 0.5), (5.0, np.nan)):
        got = tf.random.stateless_binomial([2], [1, 2], count, p, tf.float32)
        assert np.isnan(got.numpy()).all()
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.random.stateless_binomial([3], [1, 2], [1.0, 2.0], 0.5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="seed"):
        tf.random.stateless_binomial([3], [1, 2, 3], 1.0, 0.5)
    with pytest.raises(ValueError, match="dtype"):
        tf.random.stateless_poisson([3], [1, 2], 1.0, tf.bool)


@pytest.mark.parametrize(("low", "high"), [(-2.0, 2.0), (0.5, 0.7), (5.0, 9.0), (-12.0, -10.0)])
def test_bounded_normal_numbers(low, high):
    x = tf.random.stateless_parameterized_truncated_normal(
        [N], [1, 2], tf.constant(1.0, tf.float64), 2.0, 1 + 2 * low, 1 + 2 * high
    )
    x = (x.numpy() - 1) / 2
    assert x.min() >= low and x.max() <= high
    grid = np.linspace(low, high, 20_001)
    weights = np.exp(-(grid**2) / 2 + min(abs(low), abs(high)) ** 2 / 2)
    mean = (grid * weights).sum() / weights.sum()
    deviation = math.sqrt(((grid - mean) ** 2 * weights).sum() / weights.sum())
    assert abs(x.mean() - mean) < 6 * deviation / math.sqrt(N)
    assert abs(x.std() / deviation - 1) < 0.05
