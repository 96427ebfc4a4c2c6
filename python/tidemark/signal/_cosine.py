"""Cosine transforms: ``tf.signal.dct``, ``mdct`` and their inverses."""

from __future__ import annotations

import math as _math

from tidemark import dtypes
from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tensor.static import known_size
from tidemark._tidemark import call, convert
from tidemark.signal._fft import _real, _sized
from tidemark.signal._frames import frame, overlap_and_add
from tidemark.signal._windows import vorbis_window


def _check_dct(type, axis, norm):
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if type not in (1, 2, 3, 4):
        raise ValueError(f"Types I, II, III and IV (I)DCT are supported. Got: {type}")
    if type == 1 and norm is not None:
        raise ValueError("Normalization is not supported for the Type-I DCT.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


def _cosines(rows, columns, dtype, angle):
    """cos(angle(row, column)) as a matrix."""
    i = call("expand_dims", (call("range", (0, rows, 1), {}),), {"axis": 1})
    j = call("range", (0, columns, 1), {})
    angles = angle(cast(i, dtypes.float64), cast(j, dtypes.float64))
    return cast(call("cos", (angles,), {}), dtype)


@export("tf.signal.dct")
@sized_when_run
def dct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The discrete cosine transform of type 1 to 4, as SciPy defines them."""
    _check_dct(type, axis, norm)
    x = _real(input)
    if n is not None:
        if int(n) < 1:
            raise ValueError(f"n should be a positive integer or None, got {n}")
        x = _sized(x, [x.ndim - 1], [int(n)])
    size = known_size(x, -1)
    if type == 1 and size < 2:
        raise ValueError(f"Dimension must be at least 2 for a Type-I DCT, got {size}")
    if type == 1:
        inner = call("reverse", (x[..., 1:-1],), {"axis": [x.ndim - 1]})
        mirrored = call("concat", ([x, inner],), {"axis": x.ndim - 1})
        return call("real", (call("rfft", (mirrored,), {}),), {})
    if type == 2:
        return _dct2(x, size, norm)
    if type == 3:
        return _dct3(x, size, norm)
    # Type 4: odd numbers of half steps in both indices.
    step = _math.pi / (4.0 * size)
    matrix = _cosines(size, size, x.dtype, lambda i, j: (2.0 * i + 1.0) * (2.0 * j + 1.0) * step)
    scale = _math.sqrt(2.0 / size) if norm == "ortho" else 2.0
    row = call("expand_dims", (x,), {"axis": -2})
    return call("squeeze", (call("matmul", (row, matrix), {}),), {"axis": [-2]}) * scale


def _half_step_phases(size, dtype, sign):
    """exp(sign i pi k / (2 size))."""
    k = cast(call("range", (0, size, 1), {}), dtypes.float64) * (_math.pi / (2.0 * size))
    real, imag = call("cos", (k,), {}), call("sin", (k,), {}) * float(sign)
    complex_dtype = dtypes.complex128 if dtype == dtypes.float64 else dtypes.complex64
    return cast(call("complex", (real, imag), {}), complex_dtype)


def _ortho_scale(size, dtype, first, rest):
    scale = [first] + [rest] * (size - 1)
    return convert_to_tensor(scale, dtype=dtype)


def _dct2(x, size, norm):
    doubled = _sized(x, [x.ndim - 1], [2 * size])
    spectrum = call("rfft", (doubled,), {})[..., :size]
    y = 2.0 * call("real", (spectrum * _half_step_phases(size, x.dtype, -1),), {})
    if norm == "ortho":
        y = y * _ortho_scale(size, x.dtype, 0.5 / _math.sqrt(size), _math.sqrt(0.5 / size))
    return y


def _dct3(x, size, norm):
    if norm == "ortho":
        x = x * _ortho_scale(size, x.dtype, _math.sqrt(size), _math.sqrt(size / 2.0))
    else:
        x = x * float(size)
    phases = 2.0 * _half_step_phases(size, x.dtype, 1)
    rotated = phases * call("complex", (x, x * 0.0), {})
    half = _sized(rotated, [x.ndim - 1], [size + 1])
    return call("irfft", (half,), {"length": 2 * size})[..., :size]


@export("tf.signal.idct")
def idct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The inverse of ``dct``, up to a factor of twice the length unless norm is 'ortho'."""
    _check_dct(type, axis, norm)
    return dct(input, type={1: 1, 2: 3, 3: 2, 4: 4}[type], n=n, axis=axis, norm=norm)


def _window(window_fn, length, like):
    if window_fn is None:
        return convert(0.5**0.5, like._dtype_enum)
    return window_fn(length, dtype=like.dtype)


def _backwards(x):
    return call("reverse", (x,), {"axis": [-1]})


@export("tf.signal.mdct")
def mdct(signals, frame_length, window_fn=vorbis_window, pad_end=False, norm=None, name=None):
    """Modified cosine transforms of frames that overlap by half."""
    length = int(frame_length)
    if length % 4:
        raise ValueError(f"The frame length must be a multiple of 4. Got: {length}")
    frames = frame(convert_to_tensor(signals), length, length // 2, pad_end=pad_end)
    frames = frames * _window(window_fn, length, frames)
    a, b, c, d = call("split", (frames,), {"num": 4, "axis": frames.ndim - 1})
    folded = call("concat", (-_backwards(c) - d, a - _backwards(b)), {"axis": frames.ndim - 1})
    return dct(folded, type=4, norm=norm)


@export("tf.signal.inverse_mdct")
@sized_when_run
def inverse_mdct(mdcts, window_fn=vorbis_window, norm=None, name=None):
    """The signals whose modified cosine transforms are given."""
    mdcts = convert_to_tensor(mdcts)
    half = known_size(mdcts, -1)
    folded = dct(mdcts, type=4, norm=norm)
    if norm is None:
        folded = folded * convert(0.5 / half, folded._dtype_enum)
    first, second = call("split", (folded,), {"num": 2, "axis": folded.ndim - 1})
    parts = (second, -_backwards(second), -_backwards(first), -first)
    frames = call("concat", parts, {"axis": folded.ndim - 1})
    return overlap_and_add(frames * _window(window_fn, 2 * half, frames), half)
