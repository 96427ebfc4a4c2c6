// Sums, products and comparisons of integers that stand for reals, their means, and pictures of
// other sizes.
#include <algorithm>
#include <bit>
#include <cmath>

#include "tidemark/io/tflite/interpolated.h"
#include "tidemark/io/tflite/quantised.h"
#include "tidemark/io/tflite/windows.h"

namespace tidemark::io::tflite {

using namespace onnx;

namespace {

constexpr DType kWhole = DType::int32;

struct Binary {
  Numbers a, b, out;
  double twice_larger_scale() const { return 2 * double{std::max(a.scale, b.scale)}; }
};
Binary binary_of(const Call& c) {
  return {numbers_of(c, "input 0"), numbers_of(c, "input 1"), numbers_of(c, "output 0")};
}

/// An input on a scale that both share, with `bits` more bits.
Tensor on_shared_scale(const Call& c, size_t input, const Numbers& numbers, int bits,
                       double shared) {
  const Tensor fine = less_zero(c, input, numbers, kWhole) * Tensor(int32_t{1} << bits);
  return scaled(fine, fixed_point(double{numbers.scale} / shared));
}

template <Tensor (*Op)(const Tensor&, const Tensor&)>
Tensor sum_of_two(const Call& c) {
  const Binary of = binary_of(c);
  const int bits = of.out.dtype == DType::int16 ? 15 : 20;
  const double shared = of.twice_larger_scale();
  const Tensor sums =
      Op(on_shared_scale(c, 0, of.a, bits, shared), on_shared_scale(c, 1, of.b, bits, shared));
  const double factor = shared / (std::ldexp(1, bits) * double{of.out.scale});
  return output_of(c, sums, {&factor, 1}, Rounding::away);
}

Tensor product(const Call& c) {
  const Binary of = binary_of(c);
  const double factor = of.a.scale * of.b.scale / of.out.scale;
  const Tensor products = less_zero(c, 0, of.a, kWhole) * less_zero(c, 1, of.b, kWhole);
  return output_of(c, products, {&factor, 1}, Rounding::away);
}

Tensor squared_difference_of(const Call& c) {
  constexpr int kBits = 7;
  const Binary of = binary_of(c);
  const double shared = of.twice_larger_scale();
  const Tensor difference =
      on_shared_scale(c, 0, of.a, kBits, shared) - on_shared_scale(c, 1, of.b, kBits, shared);
  const double factor = shared * shared / (std::ldexp(1, 2 * kBits) * double{of.out.scale});
  return output_of(c, square(difference), {&factor, 1}, Rounding::away);
}

template <Tensor (*Op)(const Tensor&, const Tensor&)>
Tensor comparison(const Call& c) {
  constexpr int kBits = 8;
  return Op(on_shared_scale(c, 0, numbers_of(c, "input 0"), kBits, 1),
            on_shared_scale(c, 1, numbers_of(c, "input 1"), kBits, 1));
}

Tensor parametric_relu(const Call& c) {
  const Binary of = binary_of(c);
  const Tensor x = less_zero(c, 0, of.a, kWhole), alpha = less_zero(c, 1, of.b, kWhole);
  const Tensor same = scaled(x, fixed_point(of.a.scale / of.out.scale));
  const Tensor less = scaled(x * alpha, fixed_point(of.a.scale * of.b.scale / of.out.scale));
  const Tensor made = select(greater_equal(x, Tensor(int32_t{0})), same, less);
  return to_numbers(of.out, made + Tensor(of.out.zero), of.out.range());
}

/// Whole numbers divided by whole numbers above 0, halves away from 0.
Tensor rounded_quotient(const Tensor& x, const Tensor& by) {
  const Tensor half = truncatediv(by, Tensor(int32_t{2}));
  return truncatediv(select(greater(x, Tensor(int32_t{0})), x + half, x - half), by);
}

/// The sums of a window over the number of its places that lie inside.
Tensor average_pooled(const Call& c) {
  const Tensor& x = c.in(0);
  check_rank(c, x, 4);
  const Numbers out = numbers_of(c, "output 0");
  const Ints window = steps_of(c, {"filter_h", "filter_w"});
  const Ints steps = steps_of(c, {"stride_h", "stride_w"});
  c.check_listed(static_cast<double>(window[0]) * static_cast<double>(window[1]));
  const auto sums = [&](const Tensor& of, int64_t channels) {
    const Tensor ones = fill(vector_of({window[0], window[1], 1, channels}), Tensor(1.f));
    return as(convolution(of, ones, steps, padding_of(c)), kWhole);
  };
  const Ints sizes{1, known_dim(x, 1), known_dim(x, 2), 1};
  const Tensor counts = sums(fill(vector_of(sizes), Tensor(1.f)), 1);
  const Tensor means = rounded_quotient(sums(as(x, DType::float32), known_dim(x, 3)), counts);
  return to_numbers(out, means, activated_range(c, out));
}

int64_t count_along(const Call& c, const Ints& axes) {
  int64_t count = 1;
  for (const int64_t axis : axes) {
    count *= known_dim(c.in(0), axis_of(axis, rank_of(c.in(0))));
  }
  if (count < 1 || count > int64_t{1} << 22) c.fail("takes the mean of ", count, " numbers");
  return count;
}

/// Means over height and width that stay dimensions: the count is a part of the factor.
Tensor mean_of_pictures(const Call& c, const Tensor& sums, int64_t count) {
  const Numbers x = numbers_of(c, "input 0"), out = numbers_of(c, "output 0");
  const double factor = x.scale / (static_cast<float>(count) * out.scale);
  const float moved = std::round(static_cast<float>(x.zero) * x.scale / out.scale);
  if (!(std::abs(moved) < 1e9f)) c.fail("has scales too far apart");
  return output_of(c, sums, {&factor, 1}, Rounding::sixteens, -static_cast<int32_t>(moved));
}

Tensor mean_of(const Call& c) {
  const Ints axes = c.ints(1);
  const bool keeps = c.integer("keep_dims", 0) != 0;
  const Numbers x = numbers_of(c, "input 0"), out = numbers_of(c, "output 0");
  const int64_t count = count_along(c, axes);
  const Tensor all = sum(as(c.in(0), kWhole), axes, keeps);
  const bool is_picture = rank_of(c.in(0)) == 4 && keeps && out.dtype != DType::int16 &&
                          (axes == Ints{1, 2} || axes == Ints{2, 1});
  if (is_picture) return mean_of_pictures(c, all, count);
  const Tensor sums = all - Tensor(static_cast<int32_t>(x.zero * count));
  // The count divides the multiplier, which is made as large as it may be before.
  FixedPoint factor = fixed_point(double{x.scale} / double{out.scale});
  const int bits = std::clamp(31 + factor.shift, 0,
                              static_cast<int>(std::bit_width(static_cast<uint64_t>(count)) - 1));
  factor.multiplier = static_cast<int32_t>((int64_t{factor.multiplier} << bits) / count);
  factor.shift -= bits;
  return to_numbers(out, scaled(sums, factor) + Tensor(out.zero), out.range());
}

/// In reals, the nearest number.
Tensor sum_of(const Call& c) {
  const Ints axes = c.ints(1);
  const Numbers x = numbers_of(c, "input 0"), out = numbers_of(c, "output 0");
  const Tensor sums =
      as(sum(as(c.in(0), kWhole), axes, c.integer("keep_dims", 0) != 0), DType::float32);
  const float factor = x.scale / out.scale;
  const float moved =
      static_cast<float>(-x.zero) * factor * static_cast<float>(count_along(c, axes));
  const Tensor made = sums * Tensor(factor) + Tensor(moved);
  const Tensor whole = floor(abs(made) + Tensor(0.5f)) * sign(made);
  return to_numbers(out, whole + Tensor(static_cast<float>(out.zero)), out.range());
}

// --- pictures: places in 1024ths ---

constexpr int64_t kParts = 1024;

Tensor between(const Call& c, const Tensor& x, int axis, int64_t to) {
  const int64_t from = known_dim(x, axis);
  const bool aligns = c.integer("align_corners", 0) != 0 && to > 1;
  const bool has_halves = c.integer("half_pixel_centers", 0) != 0;
  const int64_t steps = aligns ? to - 1 : to;
  const int64_t scale = (kParts * (aligns ? from - 1 : from) + steps / 2) / steps;
  Ints low, high, parts;
  for (int64_t i = 0; i < to; ++i) {
    const int64_t place = has_halves ? i * scale + scale / 2 - kParts / 2 : i * scale;
    low.push_back(std::min(std::max<int64_t>(place / kParts, 0), from - 1));
    high.push_back(std::clamp<int64_t>((place + kParts - 1) / kParts, 0, from - 1));
    parts.push_back(place - kParts * low.back());
  }
  const Tensor part = per_channel(as(vector_of(parts), x.dtype()), 4, axis);
  const Tensor whole = number(static_cast<double>(kParts), x);
  return gather(x, vector_of(low), std::nullopt, axis) * (whole - part) +
         gather(x, vector_of(high), std::nullopt, axis) * part;
}

Tensor resize_bilinear(const Call& c) {
  const Tensor& x = c.in(0);
  check_rank(c, x, 4);
  const Ints sizes = c.ints(1);
  if (sizes.size() != 2 || sizes[0] < 1 || sizes[1] < 1) c.fail("needs two sizes");
  if (known_dim(x, 1) < 1 || known_dim(x, 2) < 1) c.fail("has nothing to resize");
  c.check_listed(static_cast<double>(sizes[0]) + static_cast<double>(sizes[1]));
  const Numbers out = numbers_of(c, "output 0");
  const DType wide = out.dtype == DType::int16 ? DType::int64 : kWhole;
  const Tensor fine = between(c, between(c, as(x, wide), 1, sizes[0]), 2, sizes[1]);
  const Tensor half =
      select(greater(fine, number(0, wide)), number(1 << 19, wide), number(-(1 << 19), wide));
  return to_numbers(out, truncatediv(fine + half, number(1 << 20, wide)), out.range());
}

// --- softmax ---

Tensor lines(const Interpolated& table) {
  std::vector<int32_t> values;
  for (int32_t x = -32768; x <= 32767; ++x) values.push_back(table.at(x));
  return Tensor::of<int32_t>(values, Shape{static_cast<int64_t>(values.size())});
}
/// Each number's place in the table, cut to 16 bits.
Tensor in_lines(const Tensor& table, const Tensor& x) {
  const Tensor places = clip(x, -32768, 32767) + Tensor(int32_t{32768});
  return gather(table, places, std::nullopt, int64_t{0});
}

Tensor narrow_softmax(const Call& c, const Numbers& x, const Numbers& out) {
  const Tensor all = as(c.in(0), DType::float32);
  const Tensor scale = Tensor(x.scale * static_cast<float>(c.real("beta", 1)));
  const Tensor powers = exp((all - max(all, Ints{-1}, true)) * scale);
  const Tensor inverse = Tensor(1.f) / (sum(powers, Ints{-1}, true) * Tensor(out.scale));
  const Tensor made = rint(powers * inverse) + Tensor(static_cast<float>(out.zero));
  return to_numbers(out, made, out.range());
}

/// Of 16 bits: powers and inverses from tables, in integers.
Tensor wide_softmax(const Call& c, const Numbers& x, const Numbers& out) {
  constexpr double kRange = 65535;
  const auto power = [](double v) { return std::exp(v); };
  const auto inverted = [](double v) { return 1 / (1 + v); };
  const Interpolated exps({10 / kRange, 32767}, {2 / kRange, 0}, power, double{});
  const Interpolated inverses({1 / kRange, -32768}, {2 / kRange, 0}, inverted, double{});
  const Tensor all = as(c.in(0), kWhole);
  const double factor = double{x.scale} * c.real("beta", 1) / (10.0 / 65535.0);
  const Tensor below = scaled(all - max(all, Ints{-1}, true), fixed_point(factor));
  const Tensor powers = as(in_lines(lines(exps), below + Tensor(int32_t{32767})), DType::int64);
  const Tensor total = sum(powers, Ints{-1}, true);
  // The number of bits of each total.
  Ints twos;
  for (int bit = 0; bit < 32; ++bit) twos.push_back(int64_t{1} << bit);
  const Tensor bits = sum(as(greater_equal(total, vector_of(twos)), DType::int64), Ints{-1}, true);
  const auto num = [](int64_t value) { return Tensor(value); };
  const Tensor shifted = left_shift(total, num(31) - bits);
  const Tensor parts = right_shift(shifted + num(1 << 13), num(14)) - num((1 << 15) + (1 << 16));
  const Tensor inverse = as(in_lines(lines(inverses), as(parts, kWhole)), DType::int64);
  const Tensor down = bits - num(1);
  const Tensor half = left_shift(num(1), down - num(1));
  return to_numbers(out, right_shift(powers * inverse + half, down), out.range());
}

Tensor softmax_of(const Call& c) {
  const Numbers x = numbers_of(c, "input 0"), out = numbers_of(c, "output 0");
  return x.dtype == DType::int16 ? wide_softmax(c, x, out) : narrow_softmax(c, x, out);
}

constexpr Entry kEntries[] = {
    entry("ADD on integers", sum_of_two<add>),
    entry("SUB on integers", sum_of_two<subtract>),
    entry("MUL on integers", product),
    entry("SQUARED_DIFFERENCE on integers", squared_difference_of),
    entry("PRELU on integers", parametric_relu),
    entry("LESS on integers", comparison<less>),
    entry("LESS_EQUAL on integers", comparison<less_equal>),
    entry("GREATER on integers", comparison<greater>),
    entry("GREATER_EQUAL on integers", comparison<greater_equal>),
    entry("EQUAL on integers", comparison<equal>),
    entry("NOT_EQUAL on integers", comparison<not_equal>),
    entry("AVERAGE_POOL_2D on integers", average_pooled),
    entry("MEAN on integers", mean_of),
    entry("SUM on integers", sum_of),
    entry("RESIZE_BILINEAR on integers", resize_bilinear),
    entry("SOFTMAX on integers", softmax_of),
};

}  // namespace

std::span<const Entry> integer_element_entries() { return kEntries; }

}  // namespace tidemark::io::tflite
