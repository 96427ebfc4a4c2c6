// The Fourier transforms of tf.signal over any dimensions.
#include <tidemark/call.h>
#include <tidemark/signal.h>

#include <algorithm>
#include <cmath>

#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/resized.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::signal {

namespace {

/// The dimensions from the first on, and how long each is transformed.
struct Extent {
  Ints axes, lengths;
};
Extent extent_of(std::string_view name, const Tensor& x, const FftndOptions& options) {
  Extent out;
  if (options.axes) {
    for (const int64_t axis : *options.axes) out.axes.push_back(normalize_axis(axis, x.rank()));
  } else {
    for (int64_t i = 0; i < x.rank(); ++i) out.axes.push_back(i);
  }
  Ints sorted = out.axes;
  std::ranges::sort(sorted);
  const bool repeats = std::ranges::adjacent_find(sorted) != sorted.end();
  const bool fits = options.fft_length.empty() || options.fft_length.size() == out.axes.size();
  if (out.axes.empty() || repeats || !fits) {
    fail("[", name,
         "] takes different axes, and a length for each or none. Received: ", out.axes.size(),
         " axes and ", options.fft_length.size(), " lengths");
  }
  out.lengths = options.fft_length;
  for (size_t i = out.lengths.size(); i < out.axes.size(); ++i) {
    out.lengths.push_back(nn::known_size(name, x, static_cast<int>(out.axes[i])));
  }
  return out;
}

Tensor cut(std::string_view name, Tensor x, const Extent& extent) {
  for (size_t i = 0; i < extent.axes.size(); ++i) {
    x = resized(name, x, static_cast<int>(extent.axes[i]), extent.lengths[i]);
  }
  return x;
}

/// The forward transform is not divided, the inverse one is, unless `norm` says otherwise.
Tensor normalised(const Tensor& y, const std::string& norm, const Ints& lengths, bool is_inverse) {
  if (norm != "backward" && norm != "ortho" && norm != "forward") {
    fail("[fftnd] `norm` is \"backward\", \"ortho\" or \"forward\". Received: ", norm);
  }
  if (norm == "backward") return y;
  double total = 1;
  for (const int64_t length : lengths) total *= static_cast<double>(length);
  if (norm == "ortho") total = std::sqrt(total);
  return y * nn::number(is_inverse ? total : 1 / total, y);
}

/// The axis and the last one exchanged.
Tensor exchanged(const Tensor& x, int64_t axis) {
  Ints order;
  for (int64_t i = 0; i < x.rank(); ++i) order.push_back(i);
  std::swap(order[static_cast<size_t>(axis)], order.back());
  return transpose(x, order);
}

Tensor as_complex(const Tensor& x) { return is_complex(x.dtype()) ? x : cast(x, DType::complex64); }

Tensor transformed(std::string_view name, const Tensor& input, const FftndOptions& options,
                   bool is_inverse) {
  const Tensor x = as_complex(input);
  const Extent extent = extent_of(name, x, options);
  const Tensor y = tidemark::fft(cut(name, x, extent), extent.axes, is_inverse);
  return normalised(y, options.norm, extent.lengths, is_inverse);
}

}  // namespace

Tensor fftnd(const Tensor& input, const FftndOptions& options) {
  TIDEMARK_HERE;
  return transformed("fftnd", input, options, false);
}

Tensor ifftnd(const Tensor& input, const FftndOptions& options) {
  TIDEMARK_HERE;
  return transformed("ifftnd", input, options, true);
}

Tensor rfftnd(const Tensor& input, const FftndOptions& options) {
  TIDEMARK_HERE;
  const Tensor x = input.dtype() == DType::float64 ? input : cast(input, DType::float32);
  const Extent extent = extent_of("rfftnd", x, options);
  const int64_t last = extent.axes.back();
  Tensor y = exchanged(tidemark::rfft(exchanged(cut("rfftnd", x, extent), last)), last);
  const Ints others(extent.axes.begin(), extent.axes.end() - 1);
  if (!others.empty()) y = tidemark::fft(y, others);
  return normalised(y, options.norm, extent.lengths, false);
}

Tensor irfftnd(const Tensor& input, const FftndOptions& options) {
  TIDEMARK_HERE;
  const Tensor x = as_complex(input);
  Extent extent = extent_of("irfftnd", x, options);
  const int64_t last = extent.axes.back();
  if (options.fft_length.empty()) {
    extent.lengths.back() = std::max<int64_t>(1, 2 * (extent.lengths.back() - 1));
  }
  Extent halved = extent;
  halved.lengths.back() = extent.lengths.back() / 2 + 1;
  Tensor y = cut("irfftnd", x, halved);
  const Ints others(extent.axes.begin(), extent.axes.end() - 1);
  if (!others.empty()) y = tidemark::fft(y, others, true);
  y = exchanged(tidemark::irfft(exchanged(y, last), extent.lengths.back()), last);
  return normalised(y, options.norm, extent.lengths, true);
}

}  // namespace tidemark::signal
