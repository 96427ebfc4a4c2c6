// The Fourier transforms of tf.signal.
#include <tidemark/call.h>
#include <tidemark/signal.h>

#include <algorithm>
#include <numeric>

#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/resized.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::signal {

namespace {

using nn::check_rank;
using nn::known_size;

Ints last_axes(std::string_view name, const Tensor& x, int count) {
  check_rank(name, x, count);
  Ints axes(static_cast<size_t>(count));
  std::iota(axes.begin(), axes.end(), int64_t{-count});
  return axes;
}

Tensor transformed(std::string_view name, const Tensor& input, int count, bool inverse) {
  const Tensor x = is_complex(input.dtype()) ? input : cast(input, DType::complex64);
  return tidemark::fft(x, last_axes(name, x, count), inverse);
}

void check_lengths(std::string_view name, const Ints& lengths, int count) {
  if (lengths.empty() || lengths.size() == static_cast<size_t>(count)) return;
  fail("[", name, "] `fft_length` has ", count, " elements. Received: ", lengths.size());
}

Tensor of_reals(std::string_view name, const Tensor& input, int count, const Ints& lengths) {
  Tensor x = input.dtype() == DType::float64 ? input : cast(input, DType::float32);
  Ints axes = last_axes(name, x, count);
  check_lengths(name, lengths, count);
  for (size_t i = 0; i < lengths.size(); ++i) {
    x = resized(name, x, static_cast<int>(axes[i]), lengths[i]);
  }
  const Tensor half = tidemark::rfft(x);
  axes.pop_back();
  return axes.empty() ? half : tidemark::fft(half, axes);
}

Tensor to_reals(std::string_view name, const Tensor& input, int count, Ints lengths) {
  Tensor x = is_complex(input.dtype()) ? input : cast(input, DType::complex64);
  Ints axes = last_axes(name, x, count);
  check_lengths(name, lengths, count);
  int64_t length = 0;
  if (lengths.empty()) {
    length = std::max<int64_t>(1, 2 * (known_size(name, x, -1) - 1));
  } else {
    length = lengths.back();
    lengths.back() = length / 2 + 1;
    for (size_t i = 0; i < lengths.size(); ++i) {
      x = resized(name, x, static_cast<int>(axes[i]), lengths[i]);
    }
  }
  axes.pop_back();
  if (!axes.empty()) x = tidemark::fft(x, axes, true);
  return tidemark::irfft(x, length);
}

Tensor shifted(const Tensor& x, const std::optional<Ints>& given, bool forwards) {
  Ints axes, shifts;
  if (given) {
    axes = *given;
  } else {
    for (int64_t i = 0; i < x.rank(); ++i) axes.push_back(i);
  }
  if (axes.empty()) return x;
  for (const int64_t axis : axes) {
    const int64_t half = known_size("fftshift", x, static_cast<int>(axis)) / 2;
    shifts.push_back(forwards ? half : -half);
  }
  return roll(x, nn::vector_of(shifts), axes);
}

}  // namespace

Tensor resized(std::string_view name, const Tensor& x, int axis, int64_t length) {
  const int64_t size = known_size(name, x, axis);
  if (size > length) return nn::part(x, axis, 0, length);
  return size < length ? nn::padded(x, axis, 0, length - size) : x;
}

#define TIDEMARK_TRANSFORM(name, count, inverse)      \
  Tensor name(const Tensor& input) {                  \
    TIDEMARK_HERE;                                    \
    return transformed(#name, input, count, inverse); \
  }
TIDEMARK_TRANSFORM(fft, 1, false)
TIDEMARK_TRANSFORM(fft2d, 2, false)
TIDEMARK_TRANSFORM(fft3d, 3, false)
TIDEMARK_TRANSFORM(ifft, 1, true)
TIDEMARK_TRANSFORM(ifft2d, 2, true)
TIDEMARK_TRANSFORM(ifft3d, 3, true)
#undef TIDEMARK_TRANSFORM

#define TIDEMARK_REAL_TRANSFORM(name, count, way)            \
  Tensor name(const Tensor& input, const Ints& fft_length) { \
    TIDEMARK_HERE;                                           \
    return way(#name, input, count, fft_length);             \
  }
TIDEMARK_REAL_TRANSFORM(rfft, 1, of_reals)
TIDEMARK_REAL_TRANSFORM(rfft2d, 2, of_reals)
TIDEMARK_REAL_TRANSFORM(rfft3d, 3, of_reals)
TIDEMARK_REAL_TRANSFORM(irfft, 1, to_reals)
TIDEMARK_REAL_TRANSFORM(irfft2d, 2, to_reals)
TIDEMARK_REAL_TRANSFORM(irfft3d, 3, to_reals)
#undef TIDEMARK_REAL_TRANSFORM

Tensor fftshift(const Tensor& x, const std::optional<Ints>& axes) {
  TIDEMARK_HERE;
  return shifted(x, axes, true);
}

Tensor ifftshift(const Tensor& x, const std::optional<Ints>& axes) {
  TIDEMARK_HERE;
  return shifted(x, axes, false);
}

}  // namespace tidemark::signal
