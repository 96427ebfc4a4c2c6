"""``tf.signal``: Fourier transforms, windows, frames and spectrograms."""

from tidemark import _fft_ops, _signal_more, _signal_ops  # noqa: F401  they export what is here
from tidemark._export import namespace as _namespace

globals().update(_namespace("tf.signal"))
