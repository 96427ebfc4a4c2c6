// Integers that stand for reals: value = (q - zero point) * scale.
#include <algorithm>
#include <cmath>

#include "tidemark/io/onnx/build.h"
#include "tidemark/io/onnx/narrow.h"
#include "tidemark/io/onnx/windows.h"

namespace tidemark::io::onnx {

namespace {

/// The scale or zero point laid out beside x: one for all, one a channel, or one a block.
Tensor spread(const Call& c, const Tensor& part, const Tensor& x, int64_t axis, int64_t block) {
  const int rank = rank_of(x);
  if (rank_of(part) == 0 || part.num_elements() == 1) {
    return part.shape().is_fully_known() && part.num_elements() == 1
               ? reshaped(part, std::span<const int64_t>())
               : part;
  }
  if (rank_of(part) == 1) return per_channel(part, rank, axis_of(axis, rank));
  if (block == 0) return part;
  const int at = axis_of(axis, rank);
  const Tensor all = repeat(part, Tensor(block), at);
  if (known_dim(all, at) < known_dim(x, at)) c.fail("the blocks do not cover the axis");
  return known_dim(all, at) == known_dim(x, at) ? all : sliced(all, at, 0, known_dim(x, at));
}

std::pair<double, double> range_of(Element element) {
  switch (element) {
    case Element::uint8:
      return {0, 255};
    case Element::int8:
      return {-128, 127};
    case Element::uint16:
      return {0, 65535};
    case Element::int16:
      return {-32768, 32767};
    case Element::uint4:
      return {0, 15};
    case Element::int4:
      return {-8, 7};
    case Element::uint2:
      return {0, 3};
    case Element::int2:
      return {-2, 1};
    default:
      return {-2147483648.0, 2147483647.0};
  }
}

bool is_small_float(Element element) {
  return is_narrow(element) && name_of(element).starts_with("float");
}

/// The nearest integer of the type, halves to the even one.
Value rounded_to(const Tensor& x, Element element) {
  const auto [low, high] = range_of(element);
  const Tensor whole = clip(rint(x), low, high);
  return {as(as(whole, DType::int32), storage_of(element)), element};
}

Values quantize_linear(const Call& c) {
  const Tensor& x = c.in(0);
  const int64_t axis = c.integer("axis", 1), block = c.integer("block_size", 0);
  Element element = c.has(2) ? c.value(2).element : Element::uint8;
  if (c.attr("output_dtype") && c.integer("output_dtype") != 0) {
    element = c.element("output_dtype", element);
  }
  const Tensor scale = spread(c, as(c.in(1), DType::float32), x, axis, block);
  const Tensor scaled = as(x, DType::float32) / scale;
  if (is_small_float(element)) {
    return {narrowed(scaled, element, {c.integer("saturate", 1) != 0, "up"})};
  }
  if (!c.has(2)) return {rounded_to(scaled, element)};
  const Tensor zero = spread(c, as(widened(c.value(2)), DType::float32), x, axis, block);
  return {rounded_to(rint(scaled) + zero, element)};
}

Values dequantize_linear(const Call& c) {
  const Tensor x = widened(c.value(0));
  const int64_t axis = c.integer("axis", 1), block = c.integer("block_size", 0);
  const Tensor& scale = c.in(1);
  const DType wide = x.dtype() == DType::int32 ? DType::int32 : DType::float32;
  Tensor centred = as(x, wide);
  if (c.has(2)) {
    centred = centred - spread(c, as(widened(c.value(2)), wide), x, axis, block);
  }
  const Tensor out =
      as(centred, DType::float32) * spread(c, as(scale, DType::float32), x, axis, block);
  Element element = element_of(scale.dtype());
  if (c.attr("output_dtype") && c.integer("output_dtype") != 0) {
    element = c.element("output_dtype", element);
  }
  return {as(out, storage_of(element))};
}

Values dynamic_quantize(const Call& c) {
  const Tensor& x = c.in(0);
  const Tensor zero(0.f);
  const Tensor high = maximum(max(x), zero), low = minimum(min(x), zero);
  const Tensor scale = (high - low) / Tensor(255.f);
  const Tensor safe = select(equal(scale, zero), Tensor(1.f), scale);
  const Tensor point = clip(rint(-low / safe), 0, 255);
  return {rounded_to(rint(x / safe) + point, Element::uint8), scale,
          rounded_to(point, Element::uint8)};
}

/// Wide enough that sums of products are exact.
DType exact_for(int64_t terms) {
  return terms > 0 && terms * 65025 < (int64_t{1} << 24) ? DType::float32 : DType::float64;
}

/// Zero points of rows of the left, or of columns of the right operand.
Tensor less_zero(const Call& c, size_t input, size_t zero, DType wide, bool is_left) {
  const Tensor x = as(c.in(input), wide);
  if (!c.has(zero)) return x;
  Tensor point = as(c.in(zero), wide);
  if (rank_of(point) == 1 && point.dim(0) == 1) point = reshaped(point, std::span<const int64_t>());
  if (is_left && rank_of(point) == 1 && rank_of(x) > 1) point = expand_dims(point, -1);
  return x - point;
}

Tensor matmul_integer(const Call& c) {
  const DType wide = exact_for(c.in(0).dim(-1));
  return as(matmul(less_zero(c, 0, 2, wide, true), less_zero(c, 1, 3, wide, false)), DType::int32);
}

Tensor conv_integer(const Call& c) {
  const Tensor& w = c.in(1);
  int64_t terms = 1;
  for (int i = 1; i < rank_of(w); ++i) terms *= known_dim(w, i);
  const DType wide = exact_for(terms);
  Tensor filters = as(w, wide);
  if (c.has(3)) {
    const Tensor point = as(c.in(3), wide);
    filters = filters - (rank_of(point) == 0 ? point : per_channel(point, rank_of(w), 0));
  }
  Tensor x = as(c.in(0), wide);
  if (c.has(2)) x = x - reshaped(as(c.in(2), wide), std::span<const int64_t>());
  return as(convolved(c, x, filters), DType::int32);
}

/// Sums times a scale, on the integers of the output's type.
Value requantized(const Tensor& sums, const Tensor& scale, const Value& zero) {
  const Tensor point = as(zero.tensor, DType::float32);
  return rounded_to(rint(as(sums, DType::float32) * scale) + point, zero.element);
}

Values qlinear_matmul(const Call& c) {
  // a, its scale, its zero point, b, its scale, its zero point, the result's scale, its zero point
  const DType wide = exact_for(c.in(0).dim(-1));
  const auto real = [&](size_t i) { return as(c.in(i), DType::float32); };
  const auto rows = [&](const Tensor& t) {
    return rank_of(t) == 1 && t.dim(0) != 1 ? expand_dims(t, -1) : t;
  };
  const Tensor a = as(c.in(0), wide) - rows(as(c.in(2), wide));
  const Tensor b = as(c.in(3), wide) - as(c.in(5), wide);
  const Tensor scale = rows(real(1)) * real(4) / rows(real(6));
  return {requantized(matmul(a, b), scale, c.value(7))};
}

Values qlinear_conv(const Call& c) {
  // x, scale, zero point, w, scale, zero point, the result's scale, its zero point, bias
  const Tensor& w = c.in(3);
  const int rank = rank_of(w);
  int64_t terms = 1;
  for (int i = 1; i < rank; ++i) terms *= known_dim(w, i);
  const DType wide = exact_for(terms);
  const auto channel = [&](const Tensor& t, int axis) {
    return rank_of(t) == 1 && t.dim(0) != 1 ? per_channel(t, rank, axis) : t;
  };
  const Tensor x = as(c.in(0), wide) - as(c.in(2), wide);
  const Tensor filters = as(w, wide) - channel(as(c.in(5), wide), 0);
  Tensor sums = convolved(c, x, filters);
  if (c.has(8)) sums = sums + per_channel(as(c.in(8), wide), rank);
  const Tensor scale = as(c.in(1), DType::float32) * channel(as(c.in(4), DType::float32), 1) /
                       as(c.in(6), DType::float32);
  return {requantized(sums, scale, c.value(7))};
}

constexpr Entry kEntries[] = {
    {"QuantizeLinear", quantize_linear},
    {"DequantizeLinear", dequantize_linear},
    {"DynamicQuantizeLinear", dynamic_quantize},
    {"MatMulInteger", matmul_integer},
    {"ConvInteger", conv_integer},
    {"QLinearMatMul", qlinear_matmul},
    {"QLinearConv", qlinear_conv},
};

}  // namespace

std::span<const Entry> quantised_entries() { return kEntries; }

}  // namespace tidemark::io::onnx
