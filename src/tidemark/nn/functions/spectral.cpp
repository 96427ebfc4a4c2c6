// The windows, frames and spectrograms of tf.signal.
#include <tidemark/call.h>
#include <tidemark/signal.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "tidemark/nn/building.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::signal {

namespace {

using nn::known_size;
using nn::part;

constexpr double kPi = 3.14159265358979323846;

void check_window(std::string_view name, int64_t length, DType dtype) {
  if (!is_floating(dtype)) {
    fail("[", name, "] `dtype` is a floating point type. Received: ", name_of(dtype));
  }
  if (length < 1) fail("[", name, "] the length is positive. Received: ", length);
}

Tensor raised_cosine(std::string_view name, int64_t length, const WindowOptions& options, double a,
                     double b) {
  check_window(name, length, options.dtype);
  if (length == 1) return cast(Tensor::of({1.f}), options.dtype);
  // TensorFlow's periodic windows of odd length are symmetric ones.
  const int64_t steps = options.periodic && length % 2 == 0 ? length : length - 1;
  const Tensor angle = nn::steps(length, DType::float64) * (2 * kPi / static_cast<double>(steps));
  return cast(Tensor(a) - cos(angle) * b, options.dtype);
}

int64_t length_of_transform(int64_t given, int64_t frame_length) {
  if (given >= 0) return given;
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(frame_length)));
}

Tensor windowed(const Tensor& frames, const WindowFunction& window, int64_t length) {
  return window ? frames * window(length, frames.dtype()) : frames;
}

/// The place of every sample of every frame, [frames, samples].
Tensor places(int64_t frames, int64_t length, int64_t step) {
  const Tensor starts = nn::steps(frames, DType::int32) * static_cast<int32_t>(step);
  return expand_dims(starts, 1) + nn::steps(length, DType::int32);
}

Tensor mel_of(const Tensor& hertz) { return log1p(hertz * (1 / 700.0)) * 1127.0; }

}  // namespace

Tensor hann_window(int64_t window_length, const WindowOptions& options) {
  TIDEMARK_HERE;
  return raised_cosine("hann_window", window_length, options, 0.5, 0.5);
}

Tensor hamming_window(int64_t window_length, const WindowOptions& options) {
  TIDEMARK_HERE;
  return raised_cosine("hamming_window", window_length, options, 0.54, 0.46);
}

Tensor kaiser_window(int64_t window_length, double beta, DType dtype) {
  TIDEMARK_HERE;
  check_window("kaiser_window", window_length, dtype);
  if (window_length == 1) return cast(Tensor::of({1.f}), dtype);
  const double half = static_cast<double>(window_length - 1) / 2;
  const Tensor x = (nn::steps(window_length, DType::float64) - half) * (1 / half);
  // exp(-b) I0(b) times exp(b): the exponentials of both parts together, so that none overflows.
  const Tensor inside = sqrt(maximum(Tensor(1.0) - x * x, 0.0)) * beta;
  return cast(bessel_i0e(inside) * exp(inside - beta) / bessel_i0e(Tensor(beta)), dtype);
}

Tensor kaiser_bessel_derived_window(int64_t window_length, double beta, DType dtype) {
  TIDEMARK_HERE;
  check_window("kaiser_bessel_derived_window", window_length, dtype);
  const int64_t half = window_length / 2;
  const Tensor sums = cumsum(kaiser_window(half + 1, beta, DType::float64));
  const Tensor rising = sqrt(part(sums, 0, 0, half) / nn::at(sums, 0, half));
  const Tensor both[] = {rising, reverse(rising, Ints{0})};
  return cast(concat(both, 0), dtype);
}

Tensor vorbis_window(int64_t window_length, DType dtype) {
  TIDEMARK_HERE;
  check_window("vorbis_window", window_length, dtype);
  const Tensor angle =
      (nn::steps(window_length, DType::float64) + 0.5) * (kPi / static_cast<double>(window_length));
  return cast(sin(square(sin(angle)) * (kPi / 2)), dtype);
}

WindowFunction hann() {
  return [](int64_t length, DType dtype) { return hann_window(length, {.dtype = dtype}); };
}

WindowFunction vorbis() {
  return [](int64_t length, DType dtype) { return vorbis_window(length, dtype); };
}

Tensor frame(const Tensor& signal, int64_t frame_length, int64_t frame_step,
             const FrameOptions& options) {
  TIDEMARK_HERE;
  if (frame_step < 1 || frame_length < 0) {
    fail("[frame] a frame has a length and a positive step. Received: ", frame_length, " and ",
         frame_step);
  }
  const int axis = normalize_axis(options.axis, signal.rank());
  const int64_t size = known_size("frame", signal, axis);
  int64_t count =
      std::max<int64_t>(0, size < frame_length ? 0 : 1 + (size - frame_length) / frame_step);
  Tensor x = signal;
  if (options.pad_end) {
    count = (size + frame_step - 1) / frame_step;
    const int64_t missing = frame_length + frame_step * (count - 1) - size;
    Ints edges(2 * static_cast<size_t>(x.rank()), 0);
    edges[2 * static_cast<size_t>(axis) + 1] = std::max<int64_t>(0, missing);
    x = pad(x, reshape(nn::vector_of(edges), nn::vector_of({x.rank(), 2})), "CONSTANT",
            nn::number(options.pad_value, x));
  }
  return gather(x, places(count, frame_length, frame_step), {.axis = axis});
}

Tensor overlap_and_add(const Tensor& signal, int64_t frame_step) {
  TIDEMARK_HERE;
  constexpr const char* kName = "overlap_and_add";
  if (frame_step < 1) fail("[overlap_and_add] the step is positive. Received: ", frame_step);
  const int64_t frames = known_size(kName, signal, -2), length = known_size(kName, signal, -1);
  const int64_t total = frames == 0 ? 0 : length + frame_step * (frames - 1);
  // The samples of each place, of all outer dimensions at once, added.
  const Tensor rows = reshape(signal, nn::vector_of({-1, frames * length}));
  const Tensor ids = reshape(places(frames, length, frame_step), nn::vector_of({-1}));
  const Tensor sums =
      unsorted_segment_sum(transpose(rows), ids, Tensor(static_cast<int32_t>(total)));
  return reshape(transpose(sums), nn::sizes_then(signal, signal.rank() - 2, {total}));
}

Tensor stft(const Tensor& signals, int64_t frame_length, int64_t frame_step,
            const StftOptions& options) {
  TIDEMARK_HERE;
  const Tensor frames = frame(signals, frame_length, frame_step, {.pad_end = options.pad_end});
  return rfft(windowed(frames, options.window_fn, frame_length),
              {length_of_transform(options.fft_length, frame_length)});
}

Tensor inverse_stft(const Tensor& stfts, int64_t frame_length, int64_t frame_step,
                    const InverseStftOptions& options) {
  TIDEMARK_HERE;
  const int64_t length = length_of_transform(options.fft_length, frame_length);
  Tensor frames = irfft(stfts, {length});
  if (length > frame_length) frames = part(frames, -1, 0, frame_length);
  if (length < frame_length) frames = nn::padded(frames, -1, 0, frame_length - length);
  return overlap_and_add(windowed(frames, options.window_fn, frame_length), frame_step);
}

WindowFunction inverse_stft_window_fn(int64_t frame_step, WindowFunction forward_window_fn) {
  return [=](int64_t length, DType dtype) {
    const Tensor forward = forward_window_fn(length, dtype);
    const int64_t overlaps = (length + frame_step - 1) / frame_step;
    const Tensor squares = nn::padded(square(forward), 0, 0, overlaps * frame_step - length);
    const Tensor sums = sum(reshape(squares, nn::vector_of({overlaps, frame_step})), Ints{0});
    const Tensor total = tile(sums, nn::vector_of({overlaps}));
    // 0 where no window reaches: there is nothing to undo.
    return divide_no_nan(forward, part(total, 0, 0, length));
  };
}

Tensor linear_to_mel_weight_matrix(const MelOptions& options) {
  TIDEMARK_HERE;
  const double low = options.lower_edge_hertz, high = options.upper_edge_hertz;
  if (options.num_mel_bins < 1 || options.num_spectrogram_bins < 2 || low < 0 || low >= high ||
      high > options.sample_rate / 2) {
    fail(
        "[linear_to_mel_weight_matrix] there are bins and bands, and edges from 0 to half of the "
        "sample rate. Received: ",
        options.num_spectrogram_bins, ", ", options.num_mel_bins, ", ", low, " to ", high, " of ",
        options.sample_rate);
  }
  const int64_t bins = options.num_spectrogram_bins, bands = options.num_mel_bins;
  // The lowest bin (0 Hz) has no mel: its row is zero.
  const double step = options.sample_rate / 2 / static_cast<double>(bins - 1);
  const Tensor mel = expand_dims(mel_of((nn::steps(bins - 1, DType::float64) + 1.0) * step), 1);
  const double first = mel_of(Tensor(low)).item<double>();
  const double width = mel_of(Tensor(high)).item<double>() - first;
  const Tensor edges =
      nn::steps(bands + 2, DType::float64) * (width / static_cast<double>(bands + 1)) + first;
  const Tensor lower = part(edges, 0, 0, bands), center = part(edges, 0, 1, bands);
  const Tensor upper = part(edges, 0, 2, bands);
  const Tensor rising = (mel - lower) / (center - lower);
  const Tensor falling = (upper - mel) / (upper - center);
  const Tensor weights = maximum(minimum(rising, falling), 0.0);
  return cast(nn::padded(weights, 0, 1, 0), options.dtype);
}

Tensor mfccs_from_log_mel_spectrograms(const Tensor& log_mel_spectrograms) {
  TIDEMARK_HERE;
  const int64_t bands = known_size("mfccs_from_log_mel_spectrograms", log_mel_spectrograms, -1);
  if (bands == 0) fail("[mfccs_from_log_mel_spectrograms] there are no mel bands");
  const Tensor cosines = dct(log_mel_spectrograms);
  return cosines * nn::number(1 / std::sqrt(2.0 * static_cast<double>(bands)), cosines);
}

}  // namespace tidemark::signal
