// Products of reals with weights that are integers: each batch of reals is rounded to 256 steps
// first, so that the sums are those of integers. TFLite's converter makes such models where it is
// not told what the inputs are.
#include <cmath>

#include "tidemark/io/tflite/exact_sums.h"
#include "tidemark/io/tflite/rounded.h"
#include "tidemark/io/tflite/windows.h"

namespace tidemark::io::tflite {

using namespace onnx;

namespace {

constexpr double kReach = 255;

/// Whole numbers, halves away from 0.
Tensor whole_number(const Tensor& x) { return floor(abs(x) + number(0.5, x)) * sign(x); }

}  // namespace

Rounded rounded_about_zero(const Tensor& x, const Ints& axes) {
  const Tensor most = max(abs(x), axes, true), none = equal(most, Tensor(0.f));
  const Tensor safe = select(none, Tensor(1.f), most);
  return {clip(whole_number(x * (Tensor(127.f) / safe)), -127, 127), safe / Tensor(127.f)};
}

Rounded rounded_between(const Tensor& x, const Ints& axes) {
  const auto wide = [](const Tensor& t) { return as(t, DType::float64); };
  const Tensor zero(0.0), low = minimum(wide(min(x, axes, true)), zero);
  const Tensor high = maximum(wide(max(x, axes, true)), zero), all = high - low;
  const Tensor scale = select(equal(all, zero), Tensor(1.0), all / Tensor(255.0));
  // The end whose own number is nearer to 0 says where 0 lies.
  const Tensor below = low / scale, above = high / scale;
  const Tensor is_below = less(Tensor(128.0) + abs(below), Tensor(127.0) + abs(above));
  const Tensor place = select(is_below, Tensor(-128.0) - below, Tensor(127.0) - above);
  const Tensor at = as(whole_number(clip(place, -128, 127)), DType::float32);
  const Tensor step = as(scale, DType::float32);
  const Tensor numbers = clip(whole_number(at + x * (Tensor(1.f) / step)), -128, 127);
  return {numbers - at, step};
}

namespace {

/// All axes but the first: a batch is rounded as one.
Ints inner_axes(const Tensor& x) {
  Ints out;
  for (int axis = 1; axis < rank_of(x); ++axis) out.push_back(axis);
  return out;
}

Tensor output_of_sums(const Call& c, const Tensor& sums, const Tensor& scale, size_t bias) {
  const std::span<const float> scales = scales_of(c, "input 1");
  const Tensor weights =
      scales.size() == 1 ? Tensor(scales[0])
                         : Tensor::of<float>(scales, Shape{static_cast<int64_t>(scales.size())});
  const Tensor y = as(sums, DType::float32) * (scale * weights);
  return activated(c, c.has(bias) ? y + c.in(bias) : y);
}

Tensor conv(const Call& c) {
  const Rounded x = rounded_between(c.in(0), inner_axes(c.in(0)));
  const auto given = [&](DType wide) { return x.as_dtype(wide); };
  const Tensor sums = exact_sums(c, given, kReach, DType::int32, convolved_by(c));
  return output_of_sums(c, sums, x.scale, 2);
}

Tensor depthwise(const Call& c) {
  const Rounded x = rounded_between(c.in(0), inner_axes(c.in(0)));
  const auto given = [&](DType wide) { return x.as_dtype(wide); };
  return output_of_sums(c, exact_depthwise_sums(c, given, kReach, DType::int32), x.scale, 2);
}

Tensor transposed_conv(const Call& c) {
  const Rounded x = rounded_between(c.in(2), inner_axes(c.in(2)));
  const auto given = [&](DType wide) { return x.as_dtype(wide); };
  const Tensor sums = exact_sums(c, given, kReach, DType::int32, spread_by(c));
  return output_of_sums(c, sums, x.scale, 3);
}

Tensor fully_connected(const Call& c) {
  const Tensor rows = reshaped(c.in(0), {-1, known_dim(c.in(1), 1)});
  const bool is_between = c.integer("asymmetric", 0) != 0;
  const Rounded x = is_between ? rounded_between(rows, Ints{1}) : rounded_about_zero(rows, Ints{1});
  const auto given = [&](DType wide) { return x.as_dtype(wide); };
  const Tensor sums = exact_sums(c, given, kReach, DType::int32, multiplied_by_rows(c));
  const Tensor y = output_of_sums(c, sums, x.scale, 2);
  if (c.integer("keep_num_dims", 0) == 0) return y;
  const Tensor sizes[] = {sliced(shape_of(c.in(0)), 0, 0, rank_of(c.in(0)) - 1),
                          vector_of({known_dim(c.in(1), 0)})};
  return reshape(y, concat(sizes, 0));
}

constexpr Entry kEntries[] = {
    entry("CONV_2D with rounded inputs", conv),
    entry("DEPTHWISE_CONV_2D with rounded inputs", depthwise),
    entry("TRANSPOSE_CONV with rounded inputs", transposed_conv),
    entry("FULLY_CONNECTED with rounded inputs", fully_connected),
};

}  // namespace

std::span<const Entry> rounded_input_entries() { return kEntries; }

}  // namespace tidemark::io::tflite
