#include "tidemark/io/tflite/quantised.h"

#include <cmath>
#include <limits>

namespace tidemark::io::tflite {

using namespace onnx;

namespace {

const Attribute& quantisation_of(const Call& c, std::string_view tensor) {
  const Attribute* found = c.attr(tensor);
  if (!found || found->reals.empty() || found->reals.size() != found->integers.size()) {
    c.fail("has no scales for its ", tensor);
  }
  return *found;
}

Tensor vector32(std::span<const int32_t> values) {
  if (values.size() == 1) return Tensor(values[0]);
  return Tensor::of<int32_t>(values, Shape{static_cast<int64_t>(values.size())});
}
Tensor vector64(std::span<const int64_t> values) {
  return values.size() == 1 ? Tensor(values[0]) : vector_of(values);
}

Tensor scaled32(const Tensor& sums, std::span<const FixedPoint> factors, bool halves_away) {
  std::vector<int32_t> multipliers, shifts;
  for (const FixedPoint& factor : factors) {
    multipliers.push_back(factor.multiplier);
    shifts.push_back(factor.shift);
  }
  return call("multiply_fixed_point", {sums, vector32(multipliers), vector32(shifts)},
              {{"halves_away", halves_away}});
}

/// The product with `bits` bits of the multiplier, halves up.
Tensor scaled64(const Tensor& sums, std::span<const FixedPoint> factors, int bits) {
  std::vector<int64_t> multipliers, downs, halves;
  for (const FixedPoint& factor : factors) {
    const int cut = 31 - bits;
    const int64_t half = (int64_t{1} << cut) >> 1;
    const int64_t most = (int64_t{1} << bits) - 1;
    multipliers.push_back(std::min((factor.multiplier + half) >> cut, most));
    downs.push_back(std::clamp<int64_t>(bits - factor.shift, 1, 62));
    halves.push_back(int64_t{1} << (downs.back() - 1));
  }
  const Tensor products = as(sums, DType::int64) * vector64(multipliers) + vector64(halves);
  return right_shift(products, vector64(downs));
}

}  // namespace

Numbers::Range Numbers::range() const {
  switch (dtype) {
    case DType::uint8:
      return {0, 255};
    case DType::int16:
      return {-32768, 32767};
    default:
      return {-128, 127};
  }
}

double Numbers::number_of(float real) const {
  const double steps = std::round(static_cast<double>(real / scale));
  return std::isnan(steps) ? zero : zero + steps;
}

Numbers numbers_of(const Call& c, std::string_view tensor) {
  const Attribute& given = quantisation_of(c, tensor);
  Numbers out{given.reals[0], 0, storage_of(static_cast<Element>(given.integer))};
  const Numbers::Range range = out.range();
  const int64_t zero = given.integers[0];
  if (zero < range.low || zero > range.high) {
    c.fail("has the zero ", zero, " for its ", tensor, ", whose numbers are ", range.low, " to ",
           range.high);
  }
  if (!(out.scale > 0) || !std::isfinite(out.scale)) {
    c.fail("has the scale ", out.scale, " for its ", tensor);
  }
  out.zero = static_cast<int32_t>(zero);
  return out;
}

std::span<const float> scales_of(const Call& c, std::string_view tensor) {
  return quantisation_of(c, tensor).reals;
}

Numbers::Range activated_range(const Call& c, const Numbers& output) {
  Numbers::Range out = output.range();
  const auto limit = [&](float low, float high) {
    const double from = std::max<double>(out.low, output.number_of(low));
    const double to = std::min<double>(out.high, output.number_of(high));
    out = {static_cast<int32_t>(std::min<double>(from, out.high)),
           static_cast<int32_t>(std::max<double>(to, out.low))};
  };
  switch (const int64_t kind = c.integer("activation", 0)) {
    case 0:
      break;
    case 1:
      limit(0, std::numeric_limits<float>::infinity());
      break;
    case 2:
      limit(-1, 1);
      break;
    case 3:
      limit(0, 6);
      break;
    default:
      tidemark::fail<UnimplementedError>("the activation ", kind, " of integers is not read");
  }
  return out;
}

FixedPoint fixed_point(double factor) {
  if (!(factor > 0) || !std::isfinite(factor)) return {};
  int shift = 0;
  const double part = std::frexp(factor, &shift);
  auto multiplier = static_cast<int64_t>(std::round(std::ldexp(part, 31)));
  if (multiplier == int64_t{1} << 31) {
    multiplier /= 2;
    ++shift;
  }
  if (shift < -31) return {};
  return {static_cast<int32_t>(multiplier), std::min(shift, 31)};
}

Tensor scaled(const Tensor& x, const FixedPoint& factor) { return scaled32(x, {&factor, 1}, true); }

Tensor output_of(const Call& c, const Tensor& sums, std::span<const double> factors,
                 Rounding rounding, int32_t moved_by) {
  std::vector<FixedPoint> fixed;
  for (const double factor : factors) fixed.push_back(fixed_point(factor));
  const Numbers output = numbers_of(c, "output 0");
  const Numbers::Range range = activated_range(c, output);
  const int32_t zero = output.zero + moved_by;
  if (rounding == Rounding::once || rounding == Rounding::brief) {
    const Tensor made = scaled64(sums, fixed, rounding == Rounding::once ? 31 : 15);
    return to_numbers(output, made + Tensor(int64_t{zero}), range);
  }
  const auto made = [&](const Tensor& part, std::span<const FixedPoint> of, bool halves_away) {
    return to_numbers(output, scaled32(part, of, halves_away) + Tensor(zero), range);
  };
  const bool is_grouped = rounding == Rounding::eights || rounding == Rounding::sixteens;
  if (!is_grouped) return made(sums, fixed, rounding == Rounding::away);
  const int last = rank_of(sums) - 1;
  const int64_t channels = known_dim(sums, last), group = rounding == Rounding::eights ? 8 : 16;
  const int64_t whole = channels / group * group;
  if (whole == channels) return made(sums, fixed, false);
  if (whole == 0) return made(sums, fixed, true);
  fixed.resize(static_cast<size_t>(channels), fixed[0]);
  const std::span<const FixedPoint> all(fixed);
  const auto at = static_cast<size_t>(whole);
  const Tensor parts[] = {made(sliced(sums, last, 0, whole), all.first(at), false),
                          made(sliced(sums, last, whole, channels), all.subspan(at), true)};
  return concat(parts, last);
}

Tensor to_numbers(const Numbers& output, const Tensor& x, const Numbers::Range& range) {
  return as(clip(x, range.low, range.high), output.dtype);
}

Tensor less_zero(const Call& c, size_t input, const Numbers& numbers, DType wide) {
  const Tensor x = as(c.in(input), wide);
  return numbers.zero == 0 ? x : x - number(numbers.zero, wide);
}

}  // namespace tidemark::io::tflite
