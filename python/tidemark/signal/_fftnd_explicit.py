"""Fourier transforms under the names they have outside of ``tf.signal``: nothing is optional."""

from __future__ import annotations

from tidemark import dtypes
from tidemark._export import export
from tidemark._tidemark import call
from tidemark.signal import _fftnd


@export("tf.fftnd")
def fftnd(input, fft_length, axes, name=None):
    """The Fourier transform over the given axes."""
    return _fftnd.fftnd(input, fft_length, axes)


@export("tf.ifftnd")
def ifftnd(input, fft_length, axes, name=None):
    """The inverse Fourier transform over the given axes."""
    return _fftnd.ifftnd(input, fft_length, axes)


@export("tf.rfftnd")
def rfftnd(input, fft_length, axes, Tcomplex=dtypes.complex64, name=None):
    """The Fourier transform of real numbers over the given axes; half of the last of them."""
    return call("cast", (_fftnd.rfftnd(input, fft_length, axes),), {"dtype": Tcomplex})


@export("tf.irfftnd")
def irfftnd(input, fft_length, axes, Treal=dtypes.float32, name=None):
    """The real numbers whose transform over the given axes is given."""
    return call("cast", (_fftnd.irfftnd(input, fft_length, axes),), {"dtype": Treal})
