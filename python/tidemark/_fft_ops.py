"""Fourier transforms and cosine transforms: ``tf.signal.fft``, ``rfft``, ``dct``, …"""

from __future__ import annotations

import math as _math

from tidemark import dtypes
from tidemark._at_run import sized_when_run
from tidemark._creation import cast, convert_to_tensor
from tidemark._export import export
from tidemark._static import is_number, known_size, larger, sizes_of, static_ints
from tidemark._tidemark import call
from tidemark.errors import InvalidArgumentError


def _sized(x, axes, lengths):
    """Cuts, or fills up with zeros, the given axes to the given lengths."""
    shape = sizes_of(x)
    begin, size, pads = [0] * x.ndim, [-1] * x.ndim, [[0, 0] for _ in shape]
    is_cut = is_padded = False
    for axis, length in zip(axes, lengths, strict=False):
        unknown = not is_number(shape[axis])
        if unknown or shape[axis] < length:
            pads[axis][1], is_padded = larger(length - shape[axis], 0), True
        if unknown or shape[axis] > length:
            size[axis], is_cut = length, True
    if is_padded:
        x = call("pad", (x, pads, convert_to_tensor(0, dtype=x.dtype)), {})
    return call("slice", (x, begin, size), {}) if is_cut else x


def _complex(x):
    x = convert_to_tensor(x)
    return x if x.dtype.is_complex else cast(x, dtypes.complex64)


def _real(x):
    x = convert_to_tensor(x)
    return x if x.dtype == dtypes.float64 else cast(x, dtypes.float32)


def _last(x, rank, name):
    if x.ndim < rank:
        raise InvalidArgumentError(
            None, None, f"[{name}] Input must have rank of at least {rank} but got: {x.shape}"
        )
    return list(range(-rank, 0))


def _transform(name, rank, inverse):
    def function(input, name=None):
        x = _complex(input)
        return call("fft", (x,), {"axes": _last(x, rank, public), "inverse": inverse})

    public = name
    function.__name__ = function.__qualname__ = name
    way = "The inverse of the" if inverse else "The"
    function.__doc__ = f"{way} Fourier transform over the last {rank} axes."
    return export(f"tf.signal.{name}")(function)


fft, ifft = _transform("fft", 1, False), _transform("ifft", 1, True)
fft2d, ifft2d = _transform("fft2d", 2, False), _transform("ifft2d", 2, True)
fft3d, ifft3d = _transform("fft3d", 3, False), _transform("ifft3d", 3, True)


def _lengths(fft_length, rank, name):
    lengths = static_ints(fft_length, "fft_length")
    if len(lengths) != rank:
        raise InvalidArgumentError(
            None, None, f"[{name}] fft_length must have {rank} elements, got {lengths}"
        )
    return lengths


def _real_transform(name, rank):
    def function(input_tensor, fft_length=None, name=None):
        x = _real(input_tensor)
        axes = _last(x, rank, public)
        if fft_length is not None:
            x = _sized(x, axes, _lengths(fft_length, rank, public))
        y = call("rfft", (x,), {})
        return call("fft", (y,), {"axes": axes[:-1]}) if rank > 1 else y

    public = name
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The Fourier transform of real numbers over the last {rank} axes."
    return export(f"tf.signal.{name}")(sized_when_run(function))


def _inverse_real_transform(name, rank):
    def function(input_tensor, fft_length=None, name=None):
        x = _complex(input_tensor)
        axes = _last(x, rank, public)
        if fft_length is None:
            length = max(1, 2 * (known_size(x, -1) - 1))
        else:
            *outer, length = _lengths(fft_length, rank, public)
            x = _sized(x, axes, [*outer, length // 2 + 1])
        if rank > 1:
            x = call("fft", (x,), {"axes": axes[:-1], "inverse": True})
        return call("irfft", (x,), {"length": length})

    public = name
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The real numbers whose transform (last {rank} axes) is given."
    return export(f"tf.signal.{name}")(sized_when_run(function))


rfft, irfft = _real_transform("rfft", 1), _inverse_real_transform("irfft", 1)
rfft2d, irfft2d = _real_transform("rfft2d", 2), _inverse_real_transform("irfft2d", 2)
rfft3d, irfft3d = _real_transform("rfft3d", 3), _inverse_real_transform("irfft3d", 3)


def _shifted(x, axes, sign):
    x = convert_to_tensor(x)
    if axes is None:
        axes = list(range(x.ndim))
    elif isinstance(axes, int):
        axes = [axes]
    shape = sizes_of(x)
    shifts = [shape[a] // 2 if sign > 0 else -(shape[a] // 2) for a in axes]
    return call("roll", (x, shifts), {"axis": [int(a) for a in axes]}) if axes else x


@export("tf.signal.fftshift")
def fftshift(x, axes=None, name=None):
    """Moves frequency zero to the middle."""
    return _shifted(x, axes, 1)


@export("tf.signal.ifftshift")
def ifftshift(x, axes=None, name=None):
    """Moves frequency zero from the middle to the front."""
    return _shifted(x, axes, -1)


# --- cosine transforms ----------------------------------------------------------------------------


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
