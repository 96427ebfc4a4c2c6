// Operators of one tensor of integers: each number has one answer, so all are worked out before
// the run, as TFLite's kernels do, and looked up.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tidemark/io/tflite/interpolated.h"
#include "tidemark/io/tflite/quantised.h"

namespace tidemark::io::tflite {

using namespace onnx;

namespace {

struct Unary {
  Numbers x, y;
};

Unary unary_of(const Call& c) { return {numbers_of(c, "input 0"), numbers_of(c, "output 0")}; }

template <class T, class Answer>
Tensor table_of(const Numbers::Range& from, const Numbers::Range& range, const Answer& answer) {
  std::vector<T> values;
  for (int32_t x = from.low; x <= from.high; ++x) {
    const auto y = static_cast<double>(answer(x));
    values.push_back(
        static_cast<T>(std::isnan(y) ? 0 : std::clamp<double>(y, range.low, range.high)));
  }
  return Tensor::of<T>(values, Shape{static_cast<int64_t>(values.size())});
}

/// The answer for each number of the input: a number of the output, cut to the range.
template <class Answer>
Tensor looked_up(const Call& c, const Unary& of, const Numbers::Range& range,
                 const Answer& answer) {
  const Numbers::Range from = of.x.range();
  const auto table = [&] {
    const NoHandlers now;
    if (of.y.dtype == DType::uint8) return table_of<uint8_t>(from, range, answer);
    if (of.y.dtype == DType::int16) return table_of<int16_t>(from, range, answer);
    return table_of<int8_t>(from, range, answer);
  };
  const Tensor places = as(c.in(0), DType::int32) - Tensor(from.low);
  return gather(table(), places, std::nullopt, int64_t{0});
}
template <class Answer>
Tensor looked_up(const Call& c, const Unary& of, const Answer& answer) {
  return looked_up(c, of, of.y.range(), answer);
}

/// A function of reals: of each number where there are few, else between 513 places.
template <class F>
Tensor of_reals(const Call& c, const F& f) {
  const Unary of = unary_of(c);
  if (of.x.dtype == DType::int16) {
    const Interpolated table({of.x.scale, of.x.zero}, {of.y.scale, of.y.zero}, f);
    return looked_up(c, of, [&](int32_t q) { return table.at(q); });
  }
  const float inverse = 1 / of.y.scale;
  return looked_up(c, of, [&](int32_t q) {
    const float real = f(of.x.scale * static_cast<float>(q - of.x.zero));
    return std::isnan(real) ? 0.f : std::round(real * inverse) + static_cast<float>(of.y.zero);
  });
}

/// Numbers of the input, their zero taken away, times a factor.
Tensor rescaled(const Call& c) {
  const Unary of = unary_of(c);
  const FixedPoint factor = fixed_point(double{of.x.scale} / double{of.y.scale});
  return looked_up(c, of, [&](int32_t q) { return scaled(q - of.x.zero, factor) + of.y.zero; });
}

/// As `rescaled`, held between two reals.
Tensor held(const Call& c, float low, float high) {
  const Unary of = unary_of(c);
  const FixedPoint factor = fixed_point(of.x.scale / of.y.scale);
  const Numbers::Range all = of.y.range();
  const double from = std::clamp<double>(of.y.number_of(low), all.low, all.high);
  const double to = std::clamp<double>(of.y.number_of(high), all.low, all.high);
  const Numbers::Range range{static_cast<int32_t>(from), static_cast<int32_t>(to)};
  return looked_up(c, of, range,
                   [&](int32_t q) { return scaled(q - of.x.zero, factor) + of.y.zero; });
}

Tensor leaky(const Call& c) {
  const Unary of = unary_of(c);
  const auto alpha = static_cast<float>(c.real("alpha", 0));
  const FixedPoint same = fixed_point(of.x.scale / of.y.scale);
  const FixedPoint less = fixed_point(of.x.scale * std::abs(alpha) / of.y.scale);
  return looked_up(c, of, [&](int32_t q) {
    const int32_t x = q - of.x.zero;
    if (x >= 0) return scaled(x, same) + of.y.zero;
    return (alpha < 0 ? -1 : 1) * scaled(x, less) + of.y.zero;
  });
}

Tensor magnitude(const Call& c) {
  const Unary of = unary_of(c);
  const FixedPoint factor = fixed_point(of.x.scale / of.y.scale);
  const bool is_same = of.x.scale == of.y.scale;
  return looked_up(c, of, [&](int32_t q) {
    const int32_t x = std::abs(q - of.x.zero);
    return (is_same ? x : scaled(x, factor)) + of.y.zero;
  });
}

Tensor inverse_root(const Call& c) {
  constexpr int kBits = 20;  // of the fraction
  const Unary of = unary_of(c);
  if (of.x.dtype == DType::int16) {
    return of_reals(c, [](float x) { return x > 0 ? 1 / std::sqrt(x) : 1e30f; });
  }
  FixedPoint factor = fixed_point(1 / (std::sqrt(double{of.x.scale}) * double{of.y.scale}));
  factor.shift -= kBits;
  return looked_up(c, of, [&](int32_t q) {
    if (q <= of.x.zero) return of.y.range().high;
    const double root = std::ldexp(1 / std::sqrt(static_cast<double>(q - of.x.zero)), kBits);
    return scaled(static_cast<int32_t>(std::lround(root)), factor) + of.y.zero;
  });
}

// --- hard_swish: in 16 bits ---

int32_t cut16(int64_t x) { return static_cast<int32_t>(std::clamp<int64_t>(x, -32768, 32767)); }
/// Twice the upper half of the product, rounded.
int32_t high_product(int32_t a, int32_t b) {
  const int64_t product = int64_t{a} * b;
  return cut16((product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15));
}
/// Divided by a power of two, halves away from 0.
int32_t shifted_down(int32_t x, int bits) {
  if (bits <= 0) return x;
  return (x + (1 << (bits - 1)) - (x < 0)) >> bits;
}
int32_t upper_half(int32_t multiplier) {
  return multiplier >= std::numeric_limits<int32_t>::max() - (1 << 15)
             ? 32767
             : (multiplier + (1 << 15)) >> 16;
}

Tensor hard_swish(const Call& c) {
  const Unary of = unary_of(c);
  const float fine = of.x.scale / 128;
  const FixedPoint out = fixed_point(fine / of.y.scale), gate = fixed_point(fine / (3.f / 32768));
  if (out.shift > 0) tidemark::fail<UnimplementedError>("scales this far apart are not read");
  return looked_up(c, of, [&](int32_t q) {
    const int32_t x = cut16((q - of.x.zero) * 128);
    int32_t open = x;  // min(max(x + 3, 0), 6) / 6 in the end, of 2^15
    if (gate.shift > 0) open = cut16(int64_t{open} << std::min<int>(gate.shift - 1, 15));
    open = high_product(open, upper_half(gate.multiplier));
    if (gate.shift > 0) open = cut16(open * 2);
    open = shifted_down(open, std::min(-gate.shift, 30));
    open = (open + (1 << 15)) >> 1;
    const int32_t y = high_product(x, upper_half(out.multiplier));
    const int32_t product = static_cast<int32_t>(int64_t{open} * y / (1 << 15));
    return shifted_down(product, std::min(-out.shift, 30)) + of.y.zero;
  });
}

// --- logistic and tanh of 16 bits: one table of the logistic function at 24 places a unit ---

constexpr int kPlaces = 256;

int64_t logistic_at(int64_t place) {
  const double y = 65536 / (1 + std::exp(-static_cast<double>(place) / 24));
  return std::min<int64_t>(std::lround(y), 65535);
}

struct Steps {
  int64_t multiplier = 0;
  int down = 0;
};
/// A factor that takes numbers to 3 * 4096 a unit.
Steps steps_of_scale(float scale) {
  int exponent = 0;
  if (std::frexp(scale, &exponent) == 0.5f && exponent - 1 + 12 >= 0) {
    // A power of two: exact, though more than 16 bits for great ones.
    const int up = exponent - 1 + 12;
    if (up < 16) return {int64_t{3} << up, 0};
  }
  double multiplier = double{scale} * 4096 * 3;
  Steps out;
  while (multiplier <= 32767.0 / 2 && out.down <= 30) {
    ++out.down;
    multiplier *= 2;
  }
  out.multiplier = static_cast<int64_t>(std::min(multiplier, 1e9));
  return out;
}

/// 2^(16 + bits) times the logistic function of the magnitude, and the argument.
std::pair<int64_t, int64_t> logistic_of(const Steps& steps, int32_t q, int bits) {
  const int64_t half = steps.down > 0 ? int64_t{1} << (steps.down - 1) : 0;
  const int64_t x = (q * steps.multiplier + half) >> steps.down, magnitude = std::abs(x);
  const int64_t place = magnitude >> bits;
  if (place >= kPlaces - 1) return {int64_t{bits == 9 ? 0x7FFF << 1 : 0xFFFF} << bits, x};
  const int64_t low = logistic_at(place), high = logistic_at(place + 1);
  const int64_t part = magnitude & ((int64_t{1} << bits) - 1);
  return {(low << bits) + part * (high - low), x};
}

Tensor logistic(const Call& c) {
  const Unary of = unary_of(c);
  if (of.x.dtype != DType::int16) {
    return of_reals(c, [](float x) { return 1 / (1 + std::exp(-x)); });
  }
  const Steps steps = steps_of_scale(of.x.scale);
  return looked_up(c, of, [&](int32_t q) {
    const auto [y, x] = logistic_of(steps, q, 9);
    const int64_t half = 1 << 9, one = int64_t{1} << 25;
    return (x >= 0 ? y + half : one - y + half - 1) >> 10;
  });
}

Tensor hyperbolic_tangent(const Call& c) {
  const Unary of = unary_of(c);
  if (of.x.dtype != DType::int16) return of_reals(c, [](float x) { return std::tanh(x); });
  const Steps steps = steps_of_scale(of.x.scale);
  return looked_up(c, of, [&](int32_t q) {
    const auto [y, x] = logistic_of(steps, q, 8);
    const int64_t centre = 1 << 23, half = 1 << 7;
    return (x >= 0 ? y - centre + half : centre - y + half - 1) >> 8;
  });
}

Tensor exponential(const Call& c) {
  return of_reals(c, [](float x) { return std::exp(x); });
}
/// Rounded down.
Tensor root(const Call& c) {
  const Unary of = unary_of(c);
  return looked_up(c, of, [&](int32_t q) {
    const float x = of.x.scale * static_cast<float>(std::max(q - of.x.zero, 0));
    return std::floor(std::sqrt(x) / of.y.scale) + static_cast<float>(of.y.zero);
  });
}
Tensor logarithm(const Call& c) {
  const Numbers y = numbers_of(c, "output 0");
  const float least = y.scale * static_cast<float>(y.range().low - y.zero);
  return of_reals(c, [=](float x) { return x > 0 ? std::log(x) : least; });
}
Tensor exponential_unit(const Call& c) {
  return of_reals(c, [](float x) { return x < 0 ? std::expm1(x) : x; });
}
Tensor gelu_node(const Call& c) {
  if (c.integer("approximate", 0) != 0) {
    return of_reals(c, [](float x) {
      return 0.5f * x * (1 + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
    });
  }
  return of_reals(c, [](float x) { return 0.5f * x * std::erfc(-x * 0.70710678f); });
}

constexpr float kNoLimit = std::numeric_limits<float>::infinity();

constexpr Entry kEntries[] = {
    entry("QUANTIZE on integers", rescaled),
    entry("RELU on integers", [](const Call& c) { return held(c, 0, kNoLimit); }),
    entry("RELU6 on integers", [](const Call& c) { return held(c, 0, 6); }),
    entry("RELU_N1_TO_1 on integers", [](const Call& c) { return held(c, -1, 1); }),
    entry("RELU_0_TO_1 on integers", [](const Call& c) { return held(c, 0, 1); }),
    entry("LEAKY_RELU on integers", leaky),
    entry("ABS on integers", magnitude),
    entry("RSQRT on integers", inverse_root),
    entry("HARD_SWISH on integers", hard_swish),
    entry("LOGISTIC on integers", logistic),
    entry("TANH on integers", hyperbolic_tangent),
    entry("EXP on integers", exponential),
    entry("LOG on integers", logarithm),
    entry("SQRT on integers", root),
    entry("ELU on integers", exponential_unit),
    entry("GELU on integers", gelu_node),
};

}  // namespace

std::span<const Entry> integer_table_entries() { return kEntries; }

}  // namespace tidemark::io::tflite
