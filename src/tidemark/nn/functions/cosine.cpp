// The cosine transforms of tf.signal.
#include <tidemark/call.h>
#include <tidemark/signal.h>

#include <cmath>

#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/resized.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::signal {

namespace {

using nn::known_size;
using nn::number;
using nn::part;

constexpr double kPi = 3.14159265358979323846;

void check_dct(const DctOptions& options) {
  if (options.type < 1 || options.type > 4) {
    fail("[dct] `type` is 1, 2, 3 or 4. Received: ", options.type);
  }
  if (options.norm != "" && options.norm != "ortho") {
    fail("[dct] `norm` is \"ortho\" or nothing. Received: ", options.norm);
  }
  if (options.type == 1 && options.norm != "") fail("[dct] of type 1 has no `norm`");
  if (options.n == 0 || options.n < -1) fail("[dct] `n` is positive. Received: ", options.n);
}

/// exp(sign · i · pi · k / (2 size)).
Tensor half_step_phases(int64_t size, DType dtype, double sign) {
  const Tensor k = nn::steps(size, DType::float64) * (kPi / (2 * static_cast<double>(size)));
  const Tensor phases = complex(cos(k), sin(k) * sign);
  return dtype == DType::float64 ? phases : cast(phases, DType::complex64);
}

/// Of row 0 and of the others.
Tensor ortho_scale(int64_t size, const Tensor& like, double first, double rest) {
  std::vector<double> scale(static_cast<size_t>(size), rest);
  scale[0] = first;
  return cast(Tensor::of(std::span<const double>(scale), {size}), like.dtype());
}

Tensor dct1(const Tensor& x, int64_t size) {
  if (size < 2) fail("[dct] of type 1 takes 2 elements or more. Received: ", size);
  const Tensor both[] = {x, reverse(part(x, -1, 1, size - 2), Ints{-1})};
  return real(tidemark::rfft(concat(both, -1)));
}

Tensor dct2(const Tensor& x, int64_t size, bool is_ortho) {
  const Tensor spectrum = part(tidemark::rfft(resized("dct", x, -1, 2 * size)), -1, 0, size);
  const Tensor half = real(spectrum * half_step_phases(size, x.dtype(), -1));
  if (!is_ortho) return half + half;
  const double n = static_cast<double>(size);
  return (half + half) * ortho_scale(size, x, 0.5 / std::sqrt(n), std::sqrt(0.5 / n));
}

Tensor dct3(const Tensor& x, int64_t size, bool is_ortho) {
  const double n = static_cast<double>(size);
  const Tensor scale =
      is_ortho ? ortho_scale(size, x, std::sqrt(n), std::sqrt(n / 2)) : number(n, x);
  const Tensor scaled = x * scale, phases = half_step_phases(size, x.dtype(), 1);
  const Tensor rotated = (phases + phases) * complex(scaled, zeros_like(scaled));
  const Tensor whole = tidemark::irfft(resized("dct", rotated, -1, size + 1), 2 * size);
  return part(whole, -1, 0, size);
}

/// Odd numbers of half steps in both indices.
Tensor dct4(const Tensor& x, int64_t size, bool is_ortho) {
  const Tensor odd = nn::steps(size, DType::float64) * 2.0 + 1.0;
  const Tensor angles = expand_dims(odd, 1) * odd * (kPi / (4 * static_cast<double>(size)));
  const double scale = is_ortho ? std::sqrt(2 / static_cast<double>(size)) : 2;
  const Tensor product = matmul(expand_dims(x, -2), cast(cos(angles), x.dtype()));
  return squeeze(product, Ints{-2}) * number(scale, x);
}

Tensor backwards(const Tensor& x) { return reverse(x, Ints{-1}); }

Tensor window_for(const WindowFunction& make, int64_t length, const Tensor& like) {
  return make ? make(length, like.dtype()) : number(std::sqrt(0.5), like);
}

}  // namespace

Tensor dct(const Tensor& input, const DctOptions& options) {
  TIDEMARK_HERE;
  check_dct(options);
  Tensor x = input.dtype() == DType::float64 ? input : cast(input, DType::float32);
  if (options.n > 0) x = resized("dct", x, -1, options.n);
  const int64_t size = known_size("dct", x, -1);
  const bool is_ortho = options.norm == "ortho";
  switch (options.type) {
    case 1:
      return dct1(x, size);
    case 2:
      return dct2(x, size, is_ortho);
    case 3:
      return dct3(x, size, is_ortho);
    default:
      return dct4(x, size, is_ortho);
  }
}

Tensor idct(const Tensor& input, const DctOptions& options) {
  TIDEMARK_HERE;
  check_dct(options);
  DctOptions back = options;
  if (options.type == 2 || options.type == 3) back.type = 5 - options.type;
  return dct(input, back);
}

Tensor mdct(const Tensor& signals, int64_t frame_length, const MdctOptions& options) {
  TIDEMARK_HERE;
  if (frame_length % 4 != 0 || frame_length < 4) {
    fail("[mdct] the frame length is a multiple of 4. Received: ", frame_length);
  }
  Tensor frames = frame(signals, frame_length, frame_length / 2, {.pad_end = options.pad_end});
  frames = frames * window_for(options.window_fn, frame_length, frames);
  const std::vector<Tensor> quarters = split(frames, 4, {.axis = frames.rank() - 1});
  const Tensor folded[] = {-backwards(quarters[2]) - quarters[3],
                           quarters[0] - backwards(quarters[1])};
  return dct(concat(folded, frames.rank() - 1), {.type = 4, .norm = options.norm});
}

Tensor inverse_mdct(const Tensor& mdcts, const MdctOptions& options) {
  TIDEMARK_HERE;
  const int64_t half = known_size("inverse_mdct", mdcts, -1);
  Tensor folded = dct(mdcts, {.type = 4, .norm = options.norm});
  if (options.norm.empty()) folded = folded * number(0.5 / static_cast<double>(half), folded);
  const std::vector<Tensor> parts = split(folded, 2, {.axis = folded.rank() - 1});
  const Tensor unfolded[] = {parts[1], -backwards(parts[1]), -backwards(parts[0]), -parts[0]};
  const Tensor frames = concat(unfolded, folded.rank() - 1);
  return overlap_and_add(frames * window_for(options.window_fn, 2 * half, frames), half);
}

}  // namespace tidemark::signal
