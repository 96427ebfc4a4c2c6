"""Fourier transforms, windows, frames and spectrograms against NumPy."""

import numpy as np
import pytest
from arrays import assert_close, sample
from hypothesis import given, settings
from hypothesis import strategies as st

import tidemark as tf

LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 12, 30, 31, 37, 64, 74, 97, 100, 128, 211, 360)


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_fft(n, dtype):
    rtol = 1e-4 if dtype == "complex64" else 1e-10
    x = sample(dtype, (3, n))
    assert_close(tf.signal.fft(x), np.fft.fft(x).astype(dtype), rtol=rtol, atol=rtol * n)
    assert_close(tf.signal.ifft(x), np.fft.ifft(x).astype(dtype), rtol=rtol)
    real = x.real.copy()
    half = np.fft.rfft(real).astype(dtype)
    assert_close(tf.signal.rfft(real), half, rtol=rtol, atol=rtol * n)
    assert_close(tf.signal.irfft(half, [n]), real, rtol=rtol)
    noisy = sample(dtype, (2, n // 2 + 1), 1)  # what ought to be real is not
    expected = np.fft.irfft(noisy, n).astype(real.dtype)
    assert_close(tf.signal.irfft(noisy, [n]), expected, rtol=rtol)


def test_several_axes():
    x = sample("complex128", (2, 3, 4, 5))
    assert_close(tf.signal.fft2d(x), np.fft.fft2(x), rtol=1e-11)
    assert_close(tf.signal.ifft2d(x), np.fft.ifft2(x), rtol=1e-11)
    assert_close(tf.signal.fft3d(x), np.fft.fftn(x, axes=(1, 2, 3)), rtol=1e-11)
    assert_close(tf.signal.ifft3d(x), np.fft.ifftn(x, axes=(1, 2, 3)), rtol=1e-11)
    real = x.real.copy()
    half = np.fft.rfftn(real, axes=(2, 3))
    assert_close(tf.signal.rfft2d(real), half, rtol=1e-11)
    assert_close(tf.signal.irfft2d(half, [4, 5]), real, rtol=1e-11)
    assert_close(tf.signal.rfft3d(real), np.fft.rfftn(real, axes=(1, 2, 3)), rtol=1e-11)
    assert_close(tf.signal.fftshift(real), np.fft.fftshift(real))
    assert_close(tf.signal.ifftshift(real, axes=[1, 3]), np.fft.ifftshift(real, axes=[1, 3]))
    assert_close(tf.signal.fftshift(real, axes=2), np.fft.fftshift(real, axes=2))


def test_lengths_and_types():
    x = sample("float64", (2, 6))
    for n in (3, 6, 9):
        assert_close(tf.signal.rfft(x, [n]), np.fft.rfft(x, n), rtol=1e-11)
    half = np.fft.rfft(x)
    assert_close(tf.signal.irfft(half), x, rtol=1e-11)
    for n in (4, 5, 8):
        assert_close(tf.signal.irfft(half, [n]), np.fft.irfft(half, n), rtol=1e-11)
    assert tf.signal.rfft(x.astype("float32")).dtype == tf.complex64
    assert tf.signal.fft(np.zeros((0, 4), "complex64")).shape == (0, 4)
    assert tf.signal.fft(np.zeros((4, 0), "complex64")).shape == (4, 0)
    assert np.isnan(tf.signal.rfft([1.0, np.nan]).numpy()).all()
    with pytest.raises(tf.errors.InvalidArgumentError, match="rank of at least 2"):
        tf.signal.fft2d(np.zeros(3, "complex64"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="fft_length"):
        tf.signal.rfft(x, [3, 4])
    with pytest.raises(tf.errors.InvalidArgumentError, match="positive"):
        tf.signal.irfft(half, [0])


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 700), st.integers(1, 3))
def test_any_length(n, rows):
    x = sample("complex128", (rows, n))
    assert_close(tf.signal.fft(x), np.fft.fft(x), rtol=1e-9, atol=1e-9)


def test_threads_do_not_matter():
    from tidemark import _tidemark

    x = sample("complex64", (50, 97))
    old = _tidemark.set_num_threads(1)
    one = tf.signal.fft(x).numpy()
    _tidemark.set_num_threads(4)
    four = tf.signal.fft(x).numpy()
    _tidemark.set_num_threads(old)
    np.testing.assert_array_equal(one, four)


def test_windows():
    for n in (2, 8, 15):
        symmetric = np.hanning(n)
        assert_close(tf.signal.hann_window(n, periodic=False, dtype=tf.float64), symmetric)
        expected = np.hanning(n + 1)[:-1] if n % 2 == 0 else symmetric
        assert_close(tf.signal.hann_window(n, dtype=tf.float64), expected)
        hamming = tf.signal.hamming_window(n, periodic=False, dtype=tf.float64)
        assert_close(hamming, np.hamming(n))
        assert_close(tf.signal.kaiser_window(n, 5.0, tf.float64), np.kaiser(n, 5.0), rtol=1e-6)
    assert tf.signal.hann_window(4).dtype == tf.float32
    assert tf.signal.hann_window(1).numpy().tolist() == [1]
    for window in (tf.signal.kaiser_bessel_derived_window, tf.signal.vorbis_window):
        w = window(16, dtype=tf.float64).numpy()
        np.testing.assert_allclose(w[:8] ** 2 + w[8:] ** 2, 1, rtol=1e-12)
    with pytest.raises(ValueError, match="floating"):
        tf.signal.hann_window(4, dtype=tf.int32)


def frames_of(x, length, step):
    count = max(0, 1 + (x.shape[-1] - length) // step)
    return np.stack([x[..., i * step : i * step + length] for i in range(count)], -2)


def test_frames():
    x = sample("float64", (2, 10))
    assert_close(tf.signal.frame(x, 4, 2), frames_of(x, 4, 2))
    assert_close(tf.signal.frame(x, 4, 3), frames_of(x, 4, 3))
    padded = tf.signal.frame(x, 4, 3, pad_end=True, pad_value=7)
    assert_close(padded, frames_of(np.pad(x, [(0, 0), (0, 3)], constant_values=7), 4, 3))
    assert tf.signal.frame(x, 11, 1).shape == (2, 0, 11)
    assert tf.signal.frame(x, 1, 1, axis=0).shape == (2, 1, 10)
    with pytest.raises(ValueError, match="frame_step"):
        tf.signal.frame(x, 4, 0)
    frames = sample("float64", (2, 3, 4))
    expected = np.zeros((2, 8))
    for i in range(3):
        expected[:, 2 * i : 2 * i + 4] += frames[:, i]
    assert_close(tf.signal.overlap_and_add(frames, 2), expected)
    assert tf.signal.overlap_and_add(np.zeros((3, 0, 4)), 2).shape == (3, 0)


def test_stft_and_back():
    x = sample("float32", (2, 400))
    s = tf.signal.stft(x, 64, 16, fft_length=128)
    window = np.hanning(65)[:-1]
    expected = np.fft.rfft(frames_of(x, 64, 16) * window, 128)
    assert s.dtype == tf.complex64
    np.testing.assert_allclose(s.numpy(), expected, atol=1e-3)
    inverse = tf.signal.inverse_stft_window_fn(16)
    back = tf.signal.inverse_stft(s, 64, 16, fft_length=128, window_fn=inverse)
    np.testing.assert_allclose(back.numpy()[:, 64:-64], x[:, 64:-64], atol=1e-4)


@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_cosine_transforms(n, norm):
    x = sample("float64", (2, n))
    k, j = np.arange(n)[:, None], np.arange(n)
    scale = np.full(n, np.sqrt(2 / n)) if norm else np.full(n, 2.0)
    if norm:
        scale[0] = np.sqrt(1 / n)
    expected = x @ np.cos(np.pi * k * (2 * j + 1) / (2 * n)).T * scale
    assert_close(tf.signal.dct(x, norm=norm), expected, rtol=1e-10)
    back = tf.signal.idct(expected, norm=norm).numpy() / (1 if norm else 2 * n)
    np.testing.assert_allclose(back, x, rtol=1e-9)
    four = x @ np.cos(np.pi * (2 * k + 1) * (2 * j + 1) / (4 * n)) * (np.sqrt(2 / n) if norm else 2)
    assert_close(tf.signal.dct(x, type=4, norm=norm), four, rtol=1e-10)
    if norm is None and n > 1:
        mirrored = np.concatenate([x, x[:, -2:0:-1]], -1)
        assert_close(tf.signal.dct(x, type=1), np.fft.rfft(mirrored).real, rtol=1e-10)


def test_mel_weights():
    w = tf.signal.linear_to_mel_weight_matrix(dtype=tf.float64).numpy()
    assert w.shape == (129, 20)
    assert (w >= 0).all() and (w <= 1).all() and (w[0] == 0).all()
    assert (w.max(0) > 0.5).all() and (np.count_nonzero(w, 1) <= 2).all()
    # What TensorFlow 2.21 gives there.
    np.testing.assert_allclose(w[5, 0:2], [0.460231303667234, 0.0], rtol=1e-6, atol=1e-7)
    with pytest.raises(ValueError, match="half of sample_rate"):
        tf.signal.linear_to_mel_weight_matrix(upper_edge_hertz=5000.0)
    x = sample("float32", (2, 3, 20))
    expected = tf.signal.dct(x).numpy() / np.sqrt(40)
    np.testing.assert_allclose(
        tf.signal.mfccs_from_log_mel_spectrograms(x).numpy(), expected, rtol=1e-5
    )
