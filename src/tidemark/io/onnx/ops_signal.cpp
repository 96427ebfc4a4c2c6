// Fourier transforms and the windows and filters around them.
#include <cmath>
#include <numbers>

#include "tidemark/io/onnx/build.h"

namespace tidemark::io::onnx {

namespace {

constexpr double kPi = std::numbers::pi;

/// The last dimension, one or two numbers, as complex numbers: double ones, so that what cancels
/// out leaves nothing.
Tensor to_complex(const Tensor& x) {
  const Tensor wide = as(x, DType::float64);
  const Tensor re = picked(wide, -1, 0);
  return complex(re, known_dim(x, -1) == 2 ? picked(wide, -1, 1) : zeros_like(re));
}

Tensor from_complex(const Tensor& x, DType dtype) {
  const Tensor parts[] = {real(x), imag(x)};
  return as(stack(parts, -1), dtype);
}

/// Cut, or filled up with zeros, to this length.
Tensor fitted(const Tensor& x, int axis, int64_t length) {
  const int64_t size = known_dim(x, axis);
  if (size == length) return x;
  if (size > length) return sliced(x, axis, 0, length);
  Ints table(2 * static_cast<size_t>(rank_of(x)), 0);
  table[2 * static_cast<size_t>(axis) + 1] = length - size;
  return pad(x, reshaped(vector_of(table), {rank_of(x), 2}), "CONSTANT", number(0, x));
}

/// The other half of a spectrum of real numbers: its mirror image, conjugated.
Tensor completed(const Tensor& half, int axis, int64_t length) {
  const int64_t given = known_dim(half, axis), missing = length - given;
  if (missing <= 0) return sliced(half, axis, 0, length);
  const Tensor tail = conj(reverse(sliced(half, axis, 1, 1 + missing), Ints{axis}));
  const Tensor parts[] = {half, tail};
  return concat(parts, axis);
}

Tensor dft(const Call& c) {
  const Tensor& x = c.in(0);
  const int rank = rank_of(x);
  int64_t given = c.version < 20 ? c.integer("axis", 1) : -2;
  if (c.version >= 20 && c.has(2)) given = c.known_integer(2);
  const int axis = axis_of(given, rank);
  const bool is_inverse = c.integer("inverse", 0) != 0, is_half = c.integer("onesided", 0) != 0;
  Tensor signal = x;
  int64_t length = known_dim(x, axis);
  if (is_inverse && is_half) length = 2 * (length - 1);
  if (c.has(1)) length = c.known_integer(1);
  Tensor numbers = to_complex(signal);
  if (is_inverse && is_half) {
    const Tensor spectrum = completed(numbers, axis, length);
    return as(expand_dims(real(fft(spectrum, Ints{axis}, true)), -1), x.dtype());
  }
  numbers = to_complex(fitted(signal, axis, length));
  Tensor out = fft(numbers, Ints{axis}, is_inverse);
  if (is_half) out = sliced(out, axis, 0, length / 2 + 1);
  return from_complex(out, x.dtype());
}

Tensor stft(const Call& c) {
  const Tensor& signal = c.in(0);
  const int64_t step = c.known_integer(1);
  const int64_t length = c.has(3) ? c.known_integer(3) : known_dim(c.in(2), 0);
  const int64_t size = known_dim(signal, 1);
  if (step < 1 || length < 1 || length > size) c.fail("frames must fit into the signal");
  Ints places;
  const int64_t frames = (size - length) / step + 1;
  c.check_listed(static_cast<double>(frames) * static_cast<double>(length));
  for (int64_t f = 0; f < frames; ++f) {
    for (int64_t i = 0; i < length; ++i) places.push_back(f * step + i);
  }
  const Tensor at = reshaped(vector_of(places), {frames, length});
  Tensor cut = gather(signal, at, std::nullopt, 1);  // [batch, frames, length, 1 or 2]
  if (c.has(2)) cut = cut * expand_dims(fitted(c.in(2), 0, length), 1);
  Tensor out = fft(to_complex(cut), Ints{2}, false);
  if (c.integer("onesided", 1)) out = sliced(out, 2, 0, length / 2 + 1);
  return from_complex(out, signal.dtype());
}

/// a0 - a1 cos(x) + a2 cos(2x) over one period.
Tensor cosine_window(const Call& c, double a0, double a1, double a2) {
  const DType dtype = storage_of(c.element("output_datatype", Element::float32));
  const Tensor size = reshaped(c.in(0), std::span<const int64_t>());
  const DType wide = DType::float64;
  const Tensor at = as(range(number(0, size), size, number(1, size)), wide);
  const Tensor period = as(size, wide) - number(c.integer("periodic", 1) ? 0 : 1, wide);
  const Tensor x = at * number(2 * kPi, wide) / period;
  Tensor out = number(a0, wide) - number(a1, wide) * cos(x);
  if (a2 != 0) out = out + number(a2, wide) * cos(x * number(2, wide));
  return as(out, dtype);
}

Tensor hann_window(const Call& c) { return cosine_window(c, 0.5, 0.5, 0); }
Tensor hamming_window(const Call& c) { return cosine_window(c, 25.0 / 46, 21.0 / 46, 0); }
Tensor blackman_window(const Call& c) { return cosine_window(c, 0.42, 0.5, 0.08); }

Tensor mel_weight_matrix(const Call& c) {
  const int64_t bins = c.known_integer(0), dft_length = c.known_integer(1),
                rate = c.known_integer(2);
  const double low_hz = c.known_real(3), high_hz = c.known_real(4);
  const int64_t spectrum = dft_length / 2 + 1;
  if (bins < 1 || dft_length < 2 || rate < 1 || bins > (1 << 20) || spectrum > (1 << 24)) {
    c.fail("has sizes that are not positive, or too large");
  }
  c.check_listed(static_cast<double>(spectrum) * static_cast<double>(bins));
  const auto to_mel = [](double hz) { return 2595 * std::log10(1 + hz / 700); };
  const double low = to_mel(low_hz), step = (to_mel(high_hz) - low) / static_cast<double>(bins + 2);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double hz = 700 * (std::pow(10, (low + step * static_cast<double>(i)) / 2595) - 1);
    places.push_back(static_cast<int64_t>(
        std::floor(static_cast<double>(dft_length + 1) * hz / static_cast<double>(rate))));
  }
  std::vector<float> weights(static_cast<size_t>(spectrum * bins), 0.f);
  const auto put = [&](int64_t row, int64_t bin, double value) {
    if (row < 0 || row >= spectrum) return;
    weights[static_cast<size_t>(row * bins + bin)] = static_cast<float>(value);
  };
  for (int64_t i = 0; i < bins; ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t from = places[at], top = places[at + 1], to = places[at + 2];
    if (top == from) put(top, i, 1);
    for (int64_t j = from; top > from && j <= top; ++j) {
      put(j, i, static_cast<double>(j - from) / static_cast<double>(top - from));
    }
    for (int64_t j = top; to > top && j < to; ++j) {
      put(j, i, static_cast<double>(to - j) / static_cast<double>(to - top));
    }
  }
  const DType dtype = storage_of(c.element("output_datatype", Element::float32));
  return as(Tensor::of<float>(weights, Shape{spectrum, bins}), dtype);
}

constexpr Entry kEntries[] = {
    {"DFT", dft},
    {"STFT", stft},
    {"HannWindow", hann_window},
    {"HammingWindow", hamming_window},
    {"BlackmanWindow", blackman_window},
    {"MelWeightMatrix", mel_weight_matrix},
};

}  // namespace

std::span<const Entry> signal_entries() { return kEntries; }

}  // namespace tidemark::io::onnx
