#include <tidemark/call.h>
#include <tidemark/ops.h>
#include <tidemark/quantization.h>

#include <cmath>

#include "tidemark/nn/building.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::quantization {

namespace {

using nn::number;

/// The value of the one with the gradient of the other, to the last bit: the difference of a finite
/// number from itself is zero.
Tensor with_gradient_of(const Tensor& value, const Tensor& other) {
  return stop_gradient(value) + (other - stop_gradient(other));
}

struct Range {
  Tensor bottom, top, step;
};

/// Bounds moved so that zero is one of the steps.
Range nudged(const Tensor& low, const Tensor& high, const FakeQuantOptions& options) {
  if (options.num_bits < 2 || options.num_bits > 16) {
    fail("[fake_quant] num_bits must be between 2 and 16, inclusive, was: ", options.num_bits);
  }
  const Tensor first = number(options.narrow_range ? 1 : 0, low);
  const Tensor last = number(std::exp2(static_cast<double>(options.num_bits)) - 1, low);
  const Tensor step = (high - low) / (last - first);
  const Tensor zero = first - divide_no_nan(low, step);
  const Tensor nearest = clip_by_value(floor(zero + number(0.5, low)), first, last);
  return {(first - nearest) * step, (last - nearest) * step, step};
}

Tensor rounded(const Tensor& inputs, const Tensor& min, const Tensor& max,
               const FakeQuantOptions& options) {
  const Tensor low = cast(min, inputs.dtype()), high = cast(max, inputs.dtype());
  const Range range = nudged(low, high, options);
  const Tensor inside = clip_by_value(inputs, range.bottom, range.top);
  const Tensor inverse = divide_no_nan(number(1, inputs), range.step);  // decides ties
  const Tensor steps = floor((inside - range.bottom) * inverse + number(0.5, inputs));
  const Tensor passed =
      select(less(inputs, range.bottom), low, select(greater(inputs, range.top), high, inputs));
  return with_gradient_of(steps * range.step + range.bottom, passed);
}

FakeQuantGradients gradients_of(const Tensor& dy, const Tensor& inputs, const Tensor& min,
                                const Tensor& max, const FakeQuantOptions& options,
                                bool by_channel) {
  const Range range = nudged(cast(min, inputs.dtype()), cast(max, inputs.dtype()), options);
  const Tensor below = less(inputs, range.bottom), above = greater(inputs, range.top);
  std::optional<Ints> axes;
  if (by_channel) {
    axes.emplace();
    for (int64_t axis = 0; axis + 1 < inputs.rank(); ++axis) axes->push_back(axis);
  }
  const Tensor none = zeros_like(dy);
  const auto total = [&](const Tensor& where) { return sum(select(where, dy, none), axes); };
  return {select(logical_or(below, above), none, dy), total(below), total(above)};
}

/// The steps a unit: as many as fit the bound that needs the wider range.
Tensor steps_a_unit(const Tensor& low, const Tensor& high, double least, double most) {
  const Tensor none = number(0, low), never = number(3.4e38, low);
  const auto fitting = [&](const Tensor& bound, double limit) {
    const Tensor end = number(limit, low);
    return select(greater(bound * end, none), end / bound, zeros_like(bound) + never);
  };
  Tensor steps = fitting(high, most);
  if (least != 0) steps = minimum(steps, fitting(low, least));
  return select(less(steps, never), steps, ones_like(steps));
}

Tensor nearest(const Tensor& x, const Tensor& low, const Tensor& high,
               const QuantizeAndDequantizeOptions& o) {
  if (o.num_bits < 1 || o.num_bits > 62) {
    fail("[quantize_and_dequantize] num_bits is in [1, 62]. Received: ", o.num_bits);
  }
  const auto power = [](int64_t bits) { return static_cast<double>(int64_t{1} << bits); };
  const double least = o.signed_input ? -power(o.num_bits - 1) + (o.narrow_range ? 1 : 0) : 0;
  const double most = (o.signed_input ? power(o.num_bits - 1) : power(o.num_bits)) - 1;
  const Tensor scale = steps_a_unit(low, high, least, most);
  const Tensor inside =
      o.range_given ? clip_by_value(x, number(least, x) / scale, number(most, x) / scale) : x;
  const Tensor steps = inside * scale;
  return (o.round_mode == "HALF_UP" ? floor(steps + number(0.5, x)) : round(steps)) / scale;
}

void check_range(const FakeQuantRangeOptions& options) {
  if (options.min < options.max) return;
  fail("min has to be smaller than max, was: ", options.min, " >= ", options.max);
}

}  // namespace

Tensor fake_quant_with_min_max_args(const Tensor& inputs, const FakeQuantRangeOptions& options) {
  TIDEMARK_HERE;
  check_range(options);
  return rounded(inputs, number(options.min, inputs), number(options.max, inputs),
                 {options.num_bits, options.narrow_range});
}

Tensor fake_quant_with_min_max_vars(const Tensor& inputs, const Tensor& min, const Tensor& max,
                                    const FakeQuantOptions& options) {
  TIDEMARK_HERE;
  return rounded(inputs, min, max, options);
}

Tensor fake_quant_with_min_max_vars_per_channel(const Tensor& inputs, const Tensor& min,
                                                const Tensor& max,
                                                const FakeQuantOptions& options) {
  TIDEMARK_HERE;
  return rounded(inputs, min, max, options);
}

Tensor fake_quant_with_min_max_args_gradient(const Tensor& gradients, const Tensor& inputs,
                                             const FakeQuantRangeOptions& options) {
  TIDEMARK_HERE;
  check_range(options);
  return gradients_of(gradients, inputs, number(options.min, inputs), number(options.max, inputs),
                      {options.num_bits, options.narrow_range}, false)
      .inputs;
}

FakeQuantGradients fake_quant_with_min_max_vars_gradient(const Tensor& gradients,
                                                         const Tensor& inputs, const Tensor& min,
                                                         const Tensor& max,
                                                         const FakeQuantOptions& options) {
  TIDEMARK_HERE;
  return gradients_of(gradients, inputs, min, max, options, false);
}

FakeQuantGradients fake_quant_with_min_max_vars_per_channel_gradient(
    const Tensor& gradients, const Tensor& inputs, const Tensor& min, const Tensor& max,
    const FakeQuantOptions& options) {
  TIDEMARK_HERE;
  return gradients_of(gradients, inputs, min, max, options, true);
}

Tensor quantize_and_dequantize(const Tensor& input, const Tensor& input_min,
                               const Tensor& input_max,
                               const QuantizeAndDequantizeOptions& options) {
  TIDEMARK_HERE;
  Tensor low = cast(input_min, input.dtype()), high = cast(input_max, input.dtype());
  Tensor least = low, most = high;
  std::optional<Ints> others;
  Ints along(static_cast<size_t>(input.rank()), 1);
  if (options.axis) {
    const int axis = normalize_axis(*options.axis, input.rank());
    along[static_cast<size_t>(axis)] = -1;
    others.emplace();
    for (int64_t i = 0; i < input.rank(); ++i) {
      if (i != axis) others->push_back(i);
    }
  }
  if (!options.range_given) {
    least = min(input, others);
    most = max(input, others);
  }
  if (options.axis) {
    const Tensor spread = nn::vector_of(along);
    for (Tensor* bound : {&low, &high, &least, &most}) *bound = reshape(*bound, spread);
  }
  const Tensor inside = logical_and(greater_equal(input, low), less_equal(input, high));
  return with_gradient_of(nearest(input, least, most, options),
                          select(inside, input, zeros_like(input)));
}

Tensor quantize_and_dequantize_v2(const Tensor& input, const Tensor& input_min,
                                  const Tensor& input_max,
                                  const QuantizeAndDequantizeOptions& options) {
  TIDEMARK_HERE;
  return quantize_and_dequantize(input, input_min, input_max, options);
}

}  // namespace tidemark::quantization
