"""Windows, frames and spectrograms: ``tf.signal.frame``, ``stft``, ``hann_window``, …"""

from __future__ import annotations

import math as _math

from tidemark import dtypes
from tidemark._at_run import sized_when_run
from tidemark._creation import cast, convert_to_tensor
from tidemark._export import export
from tidemark._fft_ops import dct, irfft, rfft
from tidemark._static import is_number, known_size, larger, sizes_of
from tidemark._tidemark import call
from tidemark.dtypes import as_dtype

# --- windows --------------------------------------------------------------------------------------


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


# --- frames ---------------------------------------------------------------------------------------


@export("tf.signal.frame")
def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None):
    """Pieces of ``frame_length`` along an axis, one every ``frame_step``, as a new axis."""
    signal = convert_to_tensor(signal)
    length, step = int(frame_length), int(frame_step)
    if step < 1:
        raise ValueError(f"frame_step must be positive, got {step}")
    if length < 0:
        raise ValueError(f"frame_length must not be negative, got {length}")
    axis = int(axis)
    axis = axis + signal.ndim if axis < 0 else axis
    size = sizes_of(signal)[axis]
    if pad_end:
        count = -(-size // step)
        missing = larger(0, length + step * (count - 1) - size)
        pads = [[0, missing if a == axis else 0] for a in range(signal.ndim)]
        signal = call("pad", (signal, pads, convert_to_tensor(pad_value, dtype=signal.dtype)), {})
    else:
        count = larger(0, 1 + (size - length) // step)
    starts = call("range", (0, count * step, step), {})
    inside = call("range", (0, length, 1), {})
    positions = call("expand_dims", (starts,), {"axis": 1}) + inside
    return call("gather", (signal, positions), {"axis": axis})


@export("tf.signal.overlap_and_add")
def overlap_and_add(signal, frame_step, name=None):
    """Frames laid over one another, each ``frame_step`` after the one before, and added."""
    signal = convert_to_tensor(signal)
    if signal.ndim < 2:
        raise ValueError(f"signal must have at least 2 axes (frames, samples), got {signal.shape}")
    step = int(frame_step)
    if step < 1:
        raise ValueError(f"frame_step must be positive, got {step}")
    *outer, frames, length = sizes_of(signal)
    is_empty = is_number(frames) and frames == 0
    total = 0 if is_empty else larger(length + step * (frames - 1), 0)
    # Position of every sample, then a sum of those that share one.
    starts = call("range", (0, frames * step, step), {})
    positions = call("expand_dims", (starts,), {"axis": 1}) + call("range", (0, length, 1), {})
    rows = call("reshape", (signal, (_math.prod(outer), frames * length)), {})
    flat = call("transpose", (rows,), {"perm": [1, 0]})
    ids = call("reshape", (positions, (-1,)), {})
    sums = call("unsorted_segment_sum", (flat, ids, total), {})
    return call("reshape", (call("transpose", (sums,), {"perm": [1, 0]}), (*outer, total)), {})


# --- spectrograms ---------------------------------------------------------------------------------


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
        return forward / total[:length]

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
