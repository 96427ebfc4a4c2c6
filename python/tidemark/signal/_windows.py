"""Windows that frames of signals are multiplied with: ``tf.signal.hann_window``, …"""

from __future__ import annotations

import math as _math

from tidemark import dtypes
from tidemark._export import export
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tidemark import call
from tidemark.dtypes import as_dtype


def _steps(count):
    return cast(call("range", (0, count, 1), {}), dtypes.float64)


def _check_floating(dtype, name):
    dtype = as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"{name}: dtype must be a floating point type. Found {dtype!r}")
    return dtype


def _raised_cosine(length, periodic, dtype, a, b, name):
    dtype = _check_floating(dtype, name)
    length = int(length)
    if length == 1:
        return convert_to_tensor([1], dtype=dtype)
    # TensorFlow's periodic windows of odd length are symmetric ones.
    steps = length if periodic and length % 2 == 0 else length - 1
    angle = _steps(length) * (2.0 * _math.pi / steps)
    return cast(a - b * call("cos", (angle,), {}), dtype)


@export("tf.signal.hann_window")
def hann_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    """Hann's window."""
    return _raised_cosine(window_length, periodic, dtype, 0.5, 0.5, "hann_window")


@export("tf.signal.hamming_window")
def hamming_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    """Hamming's window."""
    return _raised_cosine(window_length, periodic, dtype, 0.54, 0.46, "hamming_window")


@export("tf.signal.kaiser_window")
def kaiser_window(window_length, beta=12.0, dtype=dtypes.float32, name=None):
    """Kaiser's window."""
    dtype = _check_floating(dtype, "kaiser_window")
    length = int(window_length)
    if length == 1:
        return convert_to_tensor([1], dtype=dtype)
    beta = cast(convert_to_tensor(beta), dtypes.float64)
    half = (length - 1) / 2.0
    x = (_steps(length) - half) / half
    # exp(-b) I0(b) times exp(b): the exponentials of both parts together, so that none overflows.
    inside = beta * call("sqrt", (call("maximum", (1.0 - x * x, 0.0), {}),), {})
    scaled = call("bessel_i0e", (inside,), {}) * call("exp", (inside - beta,), {})
    return cast(scaled / call("bessel_i0e", (beta,), {}), dtype)


@export("tf.signal.kaiser_bessel_derived_window")
def kaiser_bessel_derived_window(window_length, beta=12.0, dtype=dtypes.float32, name=None):
    """The window derived from Kaiser's whose overlapping squares add up to one."""
    dtype = _check_floating(dtype, "kaiser_bessel_derived_window")
    half = int(window_length) // 2
    sums = call("cumsum", (kaiser_window(half + 1, beta, dtypes.float64),), {})
    rising = call("sqrt", (sums[:-1] / sums[-1],), {})
    falling = call("reverse", (rising,), {"axis": [0]})
    return cast(call("concat", ([rising, falling],), {"axis": 0}), dtype)


@export("tf.signal.vorbis_window")
def vorbis_window(window_length, dtype=dtypes.float32, name=None):
    """The power complementary window of the Vorbis format."""
    dtype = _check_floating(dtype, "vorbis_window")
    length = int(window_length)
    sine = call("sin", ((_steps(length) + 0.5) * (_math.pi / length),), {})
    return cast(call("sin", (_math.pi / 2.0 * sine * sine,), {}), dtype)
