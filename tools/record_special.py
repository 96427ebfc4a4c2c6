#!/usr/bin/env python3
"""Records values of special functions to 17 digits, computed with many more; run by hand.

    python-with-mpmath tools/record_special.py tests/python/data/special_values.json

tests/python/test_special.py compares ours.
"""

import itertools
import json
import sys

import mpmath as mp

mp.mp.dps = 40
POSITIVE = (1e-8, 0.03, 0.3, 0.7, 0.99, 1.0, 1.01, 1.9, 2.5, 4.99, 7.3, 11.0, 19.7, 41.0, 77.7)
BOTH = tuple(-x for x in POSITIVE) + POSITIVE
SHAPES = (0.01, 0.4, 1.0, 2.5, 9.9, 10.1, 33.0, 250.0, 4000.5)


def around(a):
    """Arguments where the incomplete gamma function of this shape is neither 0 nor 1."""
    return sorted({0.5 * a, 0.97 * a, a, 1.03 * a, a + 1, 1.7 * a + 0.1, 0.2})


def fresnel(x, part):
    return mp.fresnelc(x) if part == "cos" else mp.fresnels(x)


def lower(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


ONE = {
    "bessel_j0": (lambda x: mp.besselj(0, x), BOTH),
    "bessel_j1": (lambda x: mp.besselj(1, x), BOTH),
    "bessel_y0": (lambda x: mp.bessely(0, x), POSITIVE),
    "bessel_y1": (lambda x: mp.bessely(1, x), POSITIVE),
    "bessel_k0": (lambda x: mp.besselk(0, x), POSITIVE),
    "bessel_k1": (lambda x: mp.besselk(1, x), POSITIVE),
    "bessel_k0e": (lambda x: mp.besselk(0, x) * mp.exp(x), (*POSITIVE, 900.0, 1e9)),
    "bessel_k1e": (lambda x: mp.besselk(1, x) * mp.exp(x), (*POSITIVE, 900.0, 1e9)),
    "dawsn": (lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), (*BOTH, 300.0)),
    "fresnel_cos": (lambda x: fresnel(x, "cos"), BOTH),
    "fresnel_sin": (lambda x: fresnel(x, "sin"), BOTH),
    "expint": (mp.ei, BOTH),
    "spence": (lambda x: mp.polylog(2, 1 - mp.mpf(x)).real, (0.0, 0.49, 0.51, *POSITIVE, 1e6)),
}
PAIRS = [(a, x) for a in SHAPES for x in around(a)]
TWO = {
    "igamma": (lower, PAIRS),
    "igammac": (lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True), PAIRS),
    "igamma_grad_a": (lambda a, x: mp.diff(lambda t: lower(t, x), a, h=mp.mpf(10) ** -15), PAIRS),
    "zeta": (
        mp.zeta,
        [*itertools.product((1.001, 1.5, 2, 3, 7.5, 40), (0.01, 0.5, 1, 3.3, 50, 1e4))],
    ),
    "polygamma": (
        lambda n, x: mp.polygamma(int(n), x),
        [*itertools.product((0, 1, 2, 3, 8), (-7.3, -0.4, 0.01, 0.5, 1, 3.3, 50))],
    ),
}
THREE = {
    "betainc": (
        lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True),
        [*itertools.product((0.05, 0.9, 4, 60, 700), (0.05, 1.5, 11, 300), (0.02, 0.5, 0.93))],
    ),
}


def main(path):
    lines = []
    for name, (function, points) in {**ONE, **TWO, **THREE}.items():
        for point in points:
            args = point if isinstance(point, tuple) else (point,)
            value = float(mp.re(function(*[mp.mpf(v) for v in args])))
            lines.append(json.dumps([name, [float(v) for v in args], value]))
    with open(path, "w") as file:
        file.write("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main(sys.argv[1])
