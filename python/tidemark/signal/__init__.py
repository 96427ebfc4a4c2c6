"""``tf.signal``: Fourier transforms, windows, frames and spectrograms."""

from tidemark._export import namespace as _namespace
from tidemark.signal import _cosine, _fft, _fftnd, _frames, _spectral, _windows

globals().update(_namespace("tf.signal"))
