"""Spectrograms and what is made of them: ``tf.signal.stft``, mel scales, cepstra."""

from __future__ import annotations

import math as _math

from tidemark import dtypes
from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tensor.static import known_size
from tidemark._tidemark import call
from tidemark.signal._cosine import dct
from tidemark.signal._fft import irfft, rfft
from tidemark.signal._frames import frame, overlap_and_add
from tidemark.signal._windows import _check_floating, _steps, hann_window


def _enclosing_power_of_two(value):
    return 1 << max(0, int(value) - 1).bit_length()


@export("tf.signal.stft")
def stft(
    signals,
    frame_length,
    frame_step,
    fft_length=None,
    window_fn=hann_window,
    pad_end=False,
    name=None,
):
    """Fourier transforms of the windowed frames of real signals."""
    signals = convert_to_tensor(signals)
    frame_length = int(frame_length)
    fft_length = _enclosing_power_of_two(frame_length) if fft_length is None else int(fft_length)
    frames = frame(signals, frame_length, frame_step, pad_end=pad_end)
    if window_fn is not None:
        frames = frames * window_fn(frame_length, dtype=frames.dtype)
    return rfft(frames, [fft_length])


@export("tf.signal.inverse_stft_window_fn")
def inverse_stft_window_fn(frame_step, forward_window_fn=hann_window, name=None):
    """The window for ``inverse_stft`` that undoes the one of ``stft``."""

    def window(frame_length, dtype):
        length, step = int(frame_length), int(frame_step)
        forward = forward_window_fn(length, dtype=dtype)
        overlaps = -(-length // step)
        squares = call("square", (forward,), {})
        pads = [[0, overlaps * step - length]]
        squares = call("pad", (squares, pads, convert_to_tensor(0, dtype=squares.dtype)), {})
        rows = call("reshape", (squares, (overlaps, step)), {})
        sums = call("sum", (rows,), {"axis": [0], "keepdims": True})
        total = call("reshape", (call("tile", (sums, [overlaps, 1]), {}), (-1,)), {})
        # 0 where no window reaches: there is nothing to undo.
        return call("divide_no_nan", (forward, total[:length]), {})

    return window


@export("tf.signal.inverse_stft")
@sized_when_run
def inverse_stft(
    stfts, frame_length, frame_step, fft_length=None, window_fn=hann_window, name=None
):
    """The signals whose short-time transforms are given."""
    frame_length = int(frame_length)
    fft_length = _enclosing_power_of_two(frame_length) if fft_length is None else int(fft_length)
    frames = irfft(stfts, [fft_length])[..., :frame_length]
    missing = frame_length - known_size(frames, -1)
    if missing > 0:
        pads = [[0, missing if a == frames.ndim - 1 else 0] for a in range(frames.ndim)]
        frames = call("pad", (frames, pads, convert_to_tensor(0, dtype=frames.dtype)), {})
    if window_fn is not None:
        frames = frames * window_fn(frame_length, dtype=frames.dtype)
    return overlap_and_add(frames, frame_step)


def _mel(hertz):
    return 1127.0 * call("log1p", (hertz / 700.0,), {})


@export("tf.signal.linear_to_mel_weight_matrix")
def linear_to_mel_weight_matrix(
    num_mel_bins=20,
    num_spectrogram_bins=129,
    sample_rate=8000,
    lower_edge_hertz=125.0,
    upper_edge_hertz=3800.0,
    dtype=dtypes.float32,
    name=None,
):
    """Weights that turn a spectrogram's frequencies into mel bands: triangles in mel."""
    dtype = _check_floating(dtype, "linear_to_mel_weight_matrix")
    rate, low, high = float(sample_rate), float(lower_edge_hertz), float(upper_edge_hertz)
    if num_mel_bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {num_mel_bins}")
    if low < 0.0 or low >= high:
        raise ValueError(f"lower_edge_hertz {low} must be in [0, upper_edge_hertz {high})")
    if rate <= 0.0 or high > rate / 2:
        raise ValueError(f"upper_edge_hertz {high} must not be above half of sample_rate {rate}")
    bins, bands = int(num_spectrogram_bins), int(num_mel_bins)
    # The lowest bin (0 Hz) has no mel: its row is zero.
    hertz = (_steps(bins - 1) + 1.0) * (rate / 2.0 / (bins - 1))
    mel = call("expand_dims", (_mel(hertz),), {"axis": 1})
    ends = [float(_mel(convert_to_tensor(v, dtype=dtypes.float64))) for v in (low, high)]
    edges = _steps(bands + 2) * ((ends[1] - ends[0]) / (bands + 1)) + ends[0]
    lower, center, upper = edges[:-2], edges[1:-1], edges[2:]
    rising, falling = (mel - lower) / (center - lower), (upper - mel) / (upper - center)
    weights = call("maximum", (call("minimum", (rising, falling), {}), 0.0), {})
    zero = convert_to_tensor(0.0, dtype=dtypes.float64)
    return cast(call("pad", (weights, [[1, 0], [0, 0]], zero), {}), dtype)


@export("tf.signal.mfccs_from_log_mel_spectrograms")
@sized_when_run
def mfccs_from_log_mel_spectrograms(log_mel_spectrograms, name=None):
    """Mel-frequency cepstral coefficients."""
    x = convert_to_tensor(log_mel_spectrograms)
    bands = known_size(x, -1)
    if bands == 0:
        raise ValueError("num_mel_bins must be positive. Got: 0")
    return dct(x, type=2) * (1.0 / _math.sqrt(2.0 * bands))
