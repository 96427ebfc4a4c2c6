"""Fourier transforms over any axes: ``tf.signal.fftnd`` and its kin."""

from __future__ import annotations

import math as _math

from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.static import sizes_of, static_ints
from tidemark._tidemark import call, convert
from tidemark.errors import InvalidArgumentError
from tidemark.signal._fft import _complex, _lengths, _real, _sized


def _axes(x, axes, name):
    """The axes to transform, from the first on; without any given, all."""
    numbers = list(range(x.ndim)) if axes is None else static_ints(axes, "axes")
    found = [n + x.ndim if n < 0 else n for n in numbers]
    if any(not 0 <= n < x.ndim for n in found) or len(set(found)) != len(found) or not found:
        raise InvalidArgumentError(
            None, None, f"[{name}] axes must be different and of a tensor {x.shape}, got {axes}"
        )
    return found


def _normalised(y, norm, sizes, *, inverse):
    """The forward transform is not divided, the inverse one is, unless ``norm`` says otherwise."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f"norm must be None, 'backward', 'ortho' or 'forward', got {norm!r}")
    if norm in (None, "backward"):
        return y
    total = int(_math.prod(sizes))
    if norm == "ortho":
        factor = total**0.5 if inverse else total**-0.5
    else:
        factor = float(total) if inverse else 1.0 / total
    return y * convert(factor, y._dtype_enum)


def _prepared(x, fft_length, axes, name):
    axes = _axes(x, axes, name)
    if fft_length is None:
        lengths = [sizes_of(x)[axis] for axis in axes]
    else:
        lengths = _lengths(fft_length, len(axes), name)
    return axes, lengths


@export("tf.signal.fftnd")
@sized_when_run
def fftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The Fourier transform over the given axes."""
    x = _complex(input_tensor)
    axes, lengths = _prepared(x, fft_length, axes, "fftnd")
    x = x if fft_length is None else _sized(x, axes, lengths)
    y = call("fft", (x,), {"axes": axes})
    return _normalised(y, norm, lengths, inverse=False)


@export("tf.signal.ifftnd")
@sized_when_run
def ifftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The inverse Fourier transform over the given axes."""
    x = _complex(input_tensor)
    axes, lengths = _prepared(x, fft_length, axes, "ifftnd")
    x = x if fft_length is None else _sized(x, axes, lengths)
    y = call("fft", (x,), {"axes": axes, "inverse": True})
    return _normalised(y, norm, lengths, inverse=True)


def _exchanged(x, axis):
    """An axis and the last one exchanged."""
    if axis == x.ndim - 1:
        return x
    perm = list(range(x.ndim))
    perm[axis], perm[-1] = perm[-1], perm[axis]
    return call("transpose", (x,), {"perm": perm})


@export("tf.signal.rfftnd")
@sized_when_run
def rfftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The Fourier transform of real numbers over the given axes; half of the last of them."""
    x = _real(input_tensor)
    axes, lengths = _prepared(x, fft_length, axes, "rfftnd")
    x = _exchanged(x if fft_length is None else _sized(x, axes, lengths), axes[-1])
    y = _exchanged(call("rfft", (x,), {}), axes[-1])
    if len(axes) > 1:
        y = call("fft", (y,), {"axes": axes[:-1]})
    return _normalised(y, norm, lengths, inverse=False)


@export("tf.signal.irfftnd")
@sized_when_run
def irfftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The real numbers whose transform over the given axes is given."""
    x = _complex(input_tensor)
    axes, lengths = _prepared(x, fft_length, axes, "irfftnd")
    if fft_length is None:
        lengths[-1] = max(1, 2 * (lengths[-1] - 1))
    x = _sized(x, axes, [*lengths[:-1], lengths[-1] // 2 + 1])
    if len(axes) > 1:
        x = call("fft", (x,), {"axes": axes[:-1], "inverse": True})
    y = _exchanged(call("irfft", (_exchanged(x, axes[-1]),), {"length": lengths[-1]}), axes[-1])
    return _normalised(y, norm, lengths, inverse=True)
