"""Special functions against values computed with forty digits (tools/record_special.py)."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from tidemark._tidemark import call

import tidemark as tf

RECORDED = json.loads((Path(__file__).parent / "data" / "special_values.json").read_text())
NAMES = sorted({name for name, _, _ in RECORDED})

# The others agree to 1e-13 of the value, or 1e-15.
LOOSE = {"betainc": 1e-11, "igamma": 2e-12, "igammac": 2e-12, "igamma_grad_a": 1e-9}


def points_of(name):
    chosen = [(args, value) for n, args, value in RECORDED if n == name]
    return [np.array(column) for column in zip(*[a for a, _ in chosen], strict=True)], np.array(
        [value for _, value in chosen]
    )


@pytest.mark.parametrize("name", NAMES)
def test_values(name):
    args, expected = points_of(name)
    got = call(name, tuple(args), {})
    assert got.dtype is tf.float64
    limit = LOOSE.get(name, 1e-13)
    np.testing.assert_allclose(got.numpy(), expected, rtol=limit, atol=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", NAMES)
def test_narrow_values(name, dtype):
    args, expected = points_of(name)
    kept = (np.abs(expected) < 6e4) & (np.abs(expected) > 1e-3)
    for column in args:
        kept &= (np.abs(column) > 0.01) & (np.abs(column) < 300)
    # Rounded arguments: what the function gives for those in float64 is the reference.
    given = [tf.cast(tf.constant(column[kept]), dtype) for column in args]
    reference = call(name, tuple(tf.cast(g, tf.float64) for g in given), {})
    got = tf.cast(call(name, tuple(given), {}), tf.float64)
    limit = {"float32": 3e-6, "float16": 2e-3, "bfloat16": 2e-2}[dtype]
    np.testing.assert_allclose(got.numpy(), reference.numpy(), rtol=limit, atol=limit)


def test_exported_names():
    special = [n for n in NAMES if hasattr(tf.math.special, n)]
    assert special == [
        "bessel_j0", "bessel_j1", "bessel_k0", "bessel_k0e", "bessel_k1", "bessel_k1e",
        "bessel_y0", "bessel_y1", "dawsn", "expint", "fresnel_cos", "fresnel_sin", "spence",
    ]  # fmt: skip
    for name in ("igamma", "igammac", "zeta", "polygamma", "betainc"):
        assert callable(getattr(tf.math, name))


NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("igamma", (2.0, 0.0), 0.0),
        ("igammac", (2.0, 0.0), 1.0),
        ("igamma", (2.0, INF), 1.0),
        ("igammac", (2.0, INF), 0.0),
        ("igamma", (-1.0, 2.0), NAN),
        ("igamma", (0.0, 2.0), NAN),
        ("igammac", (1.0, -2.0), NAN),
        ("igamma", (NAN, 1.0), NAN),
        ("igamma", (1e10, 1e10), 0.5 + 1 / (3 * math.sqrt(2e10 * math.pi))),
        ("igammac", (1e16, 1e16 + 3e8), 0.0013498980316301035),
        ("zeta", (1.0, 2.0), INF),
        ("zeta", (0.5, 2.0), NAN),
        ("zeta", (2.0, -1.0), INF),
        ("zeta", (3.0, -1.0), NAN),
        ("zeta", (2.5, -1.5), NAN),
        ("zeta", (2.0, -0.5), math.pi**2 / 2 + 4),
        ("zeta", (2.0, -1e9 + 0.5), math.pi**2),
        ("polygamma", (1.5, 2.0), NAN),
        ("polygamma", (-1.0, 2.0), NAN),
        ("polygamma", (0.0, -2.0), NAN),
        ("betainc", (2.0, 3.0, 0.0), 0.0),
        ("betainc", (2.0, 3.0, 1.0), 1.0),
        ("betainc", (2.0, 3.0, 1.5), NAN),
        ("betainc", (0.0, 3.0, 0.5), NAN),
        ("bessel_k0", (0.0,), INF),
        ("bessel_k1", (0.0,), INF),
        ("bessel_k0", (-1.0,), NAN),
        ("bessel_k0", (INF,), 0.0),
        ("bessel_y0", (0.0,), -INF),
        ("bessel_y1", (-1.0,), NAN),
        ("bessel_j0", (INF,), 0.0),
        ("dawsn", (INF,), 0.0),
        ("dawsn", (-INF,), 0.0),
        ("fresnel_cos", (INF,), 0.5),
        ("fresnel_sin", (-INF,), -0.5),
        ("expint", (0.0,), -INF),
        ("expint", (INF,), INF),
        ("expint", (-INF,), 0.0),
        ("spence", (-0.5,), NAN),
        ("spence", (1.0,), 0.0),
        ("spence", (INF,), -INF),
    ],
)
def test_edges(name, args, expected):
    got = float(call(name, tuple(tf.constant(a, tf.float64) for a in args), {}))
    np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-15)


def test_nothing_and_no_number():
    for name in NAMES:
        arity = len(points_of(name)[0])
        empty = tf.zeros([0, 3], tf.float64)
        assert call(name, (empty,) * arity, {}).shape == (0, 3)
        nan = tf.constant(NAN, tf.float64)
        assert np.isnan(float(call(name, (nan,) * arity, {})))


def test_shapes_broadcast():
    a, x = np.array([[0.5], [2.0]]), np.array([0.1, 1.0, 3.0])
    lower, upper = tf.math.igamma(a, x), tf.math.igammac(a, x)
    assert lower.shape == (2, 3)
    np.testing.assert_allclose((lower + upper).numpy(), np.ones((2, 3)), rtol=1e-14)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.math.igamma([1.0, 2.0], [1.0, 2.0, 3.0])


def test_gamma_numbers_follow_their_shape():
    """The mean of gamma numbers is alpha, its derivative 1; that of the mean square 2 alpha + 1."""
    alpha = tf.constant([0.4, 1.5, 9.0], tf.float64)
    for draw in (
        lambda a: tf.random.gamma([40_000], a, dtype=tf.float64, seed=3),
        lambda a: tf.random.stateless_gamma([40_000, 3], [1, 2], a, dtype=tf.float64),
    ):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(alpha)
            x = draw(alpha)
            mean, square = tf.reduce_mean(x, 0), tf.reduce_mean(x * x, 0)
        np.testing.assert_allclose(tape.gradient(mean, alpha).numpy(), np.ones(3), rtol=0.04)
        wanted = 2 * alpha.numpy() + 1
        np.testing.assert_allclose(tape.gradient(square, alpha).numpy(), wanted, rtol=0.05)


def test_digamma_has_every_derivative():
    x = tf.constant([0.7, 2.5], tf.float64)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as middle:
            middle.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.math.lgamma(x)
            first = inner.gradient(y, x)
        second = middle.gradient(first, x)
    third = outer.gradient(second, x)
    np.testing.assert_allclose(third.numpy(), tf.math.polygamma(tf.constant(2.0, tf.float64), x))
