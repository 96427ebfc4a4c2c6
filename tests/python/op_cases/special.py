"""Special functions against series and integrals, written for being right rather than fast."""

import math

import numpy as np

from op_cases.drawing import Example, case, narrow, wide

GAMMA = 0.57721566490153286061
NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)
# Bernoulli numbers B2, B4, ...
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def integral(f, a, b, panels=8):
    """The integral of f from a to b, each an array of any shape, by Gauss's rule on panels."""
    a, b = np.broadcast_arrays(np.asarray(a, float), np.asarray(b, float))
    total = 0.0
    width = (b - a) / panels
    for p in range(panels):
        middle = a + (p + 0.5) * width
        t = middle[..., None] + 0.5 * width[..., None] * NODES
        total = total + (f(t) * WEIGHTS).sum(-1) * width / 2
    return total


def each(x):
    return np.asarray(x)[..., None]


def hurwitz(s, q, terms=20):
    """Sum over k >= 0 of (q + k)^-s by Euler and Maclaurin."""
    total = sum((q + k) ** -s for k in range(terms))
    end = q + terms
    total = total + end ** (1 - s) / (s - 1) + 0.5 * end**-s
    factor = s * end ** (-s - 1) / 2
    for j, b in enumerate(BERNOULLI):
        total = total + b * factor
        k = 2 * j + 2
        factor = factor * (s + k - 1) * (s + k) / ((k + 1) * (k + 2)) / end**2
    return total


def digamma(x):
    """By the recurrence up to 15 and the asymptotic series there."""
    shift = sum(1 / (x + k) for k in range(15))
    z = x + 15
    series = sum(b / ((2 * j + 2) * z ** (2 * j + 2)) for j, b in enumerate(BERNOULLI))
    return np.log(z) - 1 / (2 * z) - series - shift


def polygamma(n, x):
    factorial = np.vectorize(math.gamma, otypes=[float])(n + 1)
    return np.where(n == 0, digamma(x), (-1) ** (n + 1) * factorial * hurwitz(n + 1, x))


def bessel_i_scaled(order, x):
    t = (
        (np.arange(400) + 0.5) * np.pi / 400
    )  # the rule of midpoints is exact for periodic functions
    x = each(x)
    size = np.abs(x)
    value = (np.exp(size * (np.cos(t) - 1)) * np.cos(order * t)).mean(-1)
    return value * np.sign(x[..., 0]) ** order


def bessel_j(order, x):
    t = (np.arange(400) + 0.5) * np.pi / 400
    return np.cos(order * t - each(x) * np.sin(t)).mean(-1)


def bessel_k_scaled(order, x):
    return integral(
        lambda t: np.exp(-each(x) * (np.cosh(t) - 1)) * np.cosh(order * t), np.zeros_like(x), 12, 24
    )


def bessel_y(order, x):
    t = integral(lambda t: np.sin(each(x) * np.sin(t) - order * t), np.zeros_like(x), np.pi, 8)
    sign = (-1) ** order

    def tail(t):
        return (np.exp(order * t) + sign * np.exp(-order * t)) * np.exp(-each(x) * np.sinh(t))

    return (t - integral(tail, np.zeros_like(x), 8, 24)) / np.pi


def expint(x):
    """Ei by its series."""
    term, total = np.ones_like(x), np.zeros_like(x)
    for k in range(1, 80):
        term = term * x / k
        total = total + term / k
    return GAMMA + np.log(np.abs(x)) + total


def dawson(x):
    return integral(lambda t: np.exp(t * t - each(x) ** 2), np.zeros_like(x), x)


def fresnel(function):
    return lambda x: integral(lambda t: function(np.pi / 2 * t * t), np.zeros_like(x), x)


def spence(x):
    return integral(
        lambda t: np.where(t == 1, -1, -np.log(t) / np.where(t == 1, 1, t - 1)),
        np.ones_like(x),
        x,
        16,
    )


LGAMMA = np.vectorize(math.lgamma, otypes=[float])


def lower_gamma(a, x):
    """P(a, x) by its series."""
    term = np.exp(a * np.log(x) - x - LGAMMA(a + 1))
    total = np.array(term)
    for k in range(1, 200):
        term = term * x / (a + k)
        total = total + term
    return total


def beta_integral(a, b, x):
    """I_x(a, b) by the series around 0, on the side of the middle where it converges."""

    def series(a, b, x):
        front = np.exp(a * np.log(x) + b * np.log1p(-x) - LGAMMA(a) - LGAMMA(b) + LGAMMA(a + b)) / a
        term, total = np.ones_like(x), np.ones_like(x)
        for k in range(400):
            term = term * (a + b + k) / (a + 1 + k) * x
            total = total + term
        return front * total

    return np.where(
        x < 0.5,
        series(a, b, np.where(x < 0.5, x, 0.25)),
        1 - series(b, a, np.where(x < 0.5, 0.25, 1 - x)),
    )


def difference(function, a, step=1e-4):
    """df/da by four points."""
    near = function(a + step) - function(a - step)
    far = function(a + 2 * step) - function(a - 2 * step)
    return (8 * near - far) / (12 * step)


# op: function, lowest and highest argument, error allowed in float64 in roundings
ONE = {
    "bessel_i0e": (lambda x: bessel_i_scaled(0, x), -9, 9, 64),
    "bessel_i1e": (lambda x: bessel_i_scaled(1, x), -9, 9, 64),
    "bessel_j0": (lambda x: bessel_j(0, x), -9, 9, 512),
    "bessel_j1": (lambda x: bessel_j(1, x), -9, 9, 512),
    "bessel_k0e": (lambda x: bessel_k_scaled(0, x), 0.2, 9, 512),
    "bessel_k1e": (lambda x: bessel_k_scaled(1, x), 0.2, 9, 512),
    "bessel_k0": (lambda x: np.exp(-x) * bessel_k_scaled(0, x), 0.2, 9, 512),
    "bessel_k1": (lambda x: np.exp(-x) * bessel_k_scaled(1, x), 0.2, 9, 512),
    "bessel_y0": (lambda x: bessel_y(0, x), 0.2, 9, 2048),
    "bessel_y1": (lambda x: bessel_y(1, x), 0.5, 9, 2048),
    "dawsn": (dawson, -4, 4, 128),
    "digamma": (digamma, 0.1, 9, 64),
    "trigamma": (lambda x: polygamma(np.ones_like(x), x), 0.1, 9, 128),
    "expint": (expint, 0.1, 9, 256),
    "fresnel_cos": (fresnel(np.cos), -3, 3, 256),
    "fresnel_sin": (fresnel(np.sin), -3, 3, 256),
    "spence": (spence, 0.05, 5, 256),
}


@case(*ONE)
def of_one_number(d):
    function, low, high, ulps = ONE[d.op]
    x = d.finite(d.shape(total=30_001), low=low, high=high)
    if d.op.startswith("bessel_") and d.dtype in ("float16", "bfloat16"):
        ulps = 16
    ulps = {"float64": ulps, "float32": 64}.get(d.dtype, 4)
    return Example(
        [x], {}, lambda: narrow(function(wide(x)), d.dtype), ulps=ulps, atol=ulps, slow=True
    )


@case("erfinv", "ndtri")
def inverses(d):
    """What they give is put into the function that they are the inverse of."""
    low = -0.95 if d.op == "erfinv" else 0.02
    x = d.finite(d.shape(total=30_001), low=low, high=0.95)
    forward = np.vectorize(
        math.erf if d.op == "erfinv" else lambda y: 0.5 * math.erfc(-y / math.sqrt(2)),
        otypes=[float],
    )

    def check(outputs):
        y = wide(outputs[0])
        assert outputs[0].shape == x.shape and outputs[0].dtype == x.dtype
        rounding = {"float64": 1e-13, "float32": 1e-6, "float16": 2e-3}.get(d.dtype, 2e-2)
        np.testing.assert_allclose(forward(y), wide(x), rtol=rounding, atol=2 * rounding)

    return Example([x], {}, check=check, slow=True)


@case("igamma", "igammac")
def incomplete_gammas(d):
    first, second = d.broadcast(2, total=30_001)
    a, x = d.finite(first, low=0.3, high=6), d.finite(second, low=0.1, high=9)

    def expected():
        p = lower_gamma(wide(a), wide(x))
        return narrow(p if d.op == "igamma" else 1 - p, d.dtype)

    ulps = {"float64": 512, "float32": 64}.get(d.dtype, 8)
    return Example([a, x], {}, expected, ulps=ulps, atol=ulps, slow=True)


@case("igamma_grad_a", "random_gamma_grad")
def gradients_by_the_first_parameter(d):
    shape = d.shape(total=30_001)
    a, x = d.finite(shape, low=0.6, high=5), d.finite(shape, low=0.3, high=6)

    def expected():
        u, v = wide(a), wide(x)
        slope = difference(lambda a: lower_gamma(a, v), u)
        if d.op == "random_gamma_grad":
            # A draw keeps its quantile: dx/da = -(dP/da) / (dP/dx).
            slope = -slope / np.exp((u - 1) * np.log(v) - v - LGAMMA(u))
        return narrow(slope, d.dtype)

    example = Example([a, x], {}, expected, slow=True)
    example.ulps = example.atol = {"float64": 1e7, "float32": 512}.get(d.dtype, 8)
    return example


@case("betainc")
def betainc(d):
    shape = d.shape(total=30_001)
    a, b = d.finite(shape, low=0.5, high=4), d.finite(shape, low=0.5, high=4)
    x = d.finite(shape, low=0.05, high=0.95)
    ulps = {"float64": 512, "float32": 64}.get(d.dtype, 8)
    return Example(
        [a, b, x],
        {},
        lambda: narrow(beta_integral(wide(a), wide(b), wide(x)), d.dtype),
        ulps=ulps,
        atol=ulps,
        slow=True,
    )


@case("zeta")
def zeta(d):
    first, second = d.broadcast(2, total=30_001)
    x, q = d.finite(first, low=1.5, high=6), d.finite(second, low=0.3, high=6)
    ulps = {"float64": 256, "float32": 64}.get(d.dtype, 4)
    return Example(
        [x, q], {}, lambda: narrow(hurwitz(wide(x), wide(q)), d.dtype), ulps=ulps, slow=True
    )


@case("polygamma")
def polygammas(d):
    first, second = d.broadcast(2, total=30_001)
    n = narrow(d.rng.integers(0, 5, first), d.dtype)
    x = d.finite(second, low=0.4, high=6)
    ulps = {"float64": 512, "float32": 128}.get(d.dtype, 8)
    return Example(
        [n, x],
        {},
        lambda: narrow(polygamma(wide(n), wide(x)), d.dtype),
        ulps=ulps,
        atol=ulps,
        slow=True,
    )
