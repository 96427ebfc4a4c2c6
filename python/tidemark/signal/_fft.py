"""Fourier transforms over the last axes: ``tf.signal.fft``, ``rfft``, ``fftshift``, …"""

from __future__ import annotations

from tidemark import dtypes
from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tensor.static import is_number, known_size, larger, sizes_of, static_ints
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
    if x.ndim is not None and x.ndim < rank:
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
