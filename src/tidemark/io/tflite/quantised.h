// Operators over integers that stand for reals, as TFLite's own kernels compute them: sums of
// products in integers, then products with factors held in integers.
//
//   const Numbers x = numbers_of(c, "input 0"), y = numbers_of(c, "output 0");
//   const FixedPoint factor = fixed_point(double{x.scale} / double{y.scale});
//   return to_numbers(y, scaled(less_zero(c, 0, x), factor) + Tensor(y.zero), y.range());
//
// Nodes of such operators have the name of TFLite's with `kOnIntegers` behind it, and an attribute
// for each tensor that stands for reals.
#pragma once

#include <vector>

#include "tidemark/base/fixed_point.h"
#include "tidemark/io/tflite/ops.h"

namespace tidemark::io::tflite {

/// How the integers of a tensor stand for reals: (number - zero) * scale.
struct Numbers {
  float scale = 1;
  int32_t zero = 0;
  DType dtype = DType::int8;

  struct Range {
    int32_t low, high;
  };
  /// What the dtype holds.
  Range range() const;
  /// The number nearest to a real, halves away from 0; it may lie outside of the range.
  double number_of(float real) const;
};

Numbers numbers_of(const Call& c, std::string_view tensor);
/// One of each for all, or one for each channel.
std::span<const float> scales_of(const Call& c, std::string_view tensor);
/// The range of the output that the option `activation` leaves.
Numbers::Range activated_range(const Call& c, const Numbers& output);

/// A factor as multiplier / 2^31 * 2^shift.
struct FixedPoint {
  int32_t multiplier = 0, shift = 0;
};
FixedPoint fixed_point(double factor);
/// Rounded twice, halves away from 0 in the end.
inline int32_t scaled(int32_t x, const FixedPoint& factor) {
  return multiply_fixed_point(x, factor.multiplier, factor.shift, true);
}
Tensor scaled(const Tensor& x, const FixedPoint& factor);

/// How sums become numbers of the output: each is what one of TFLite's kernels does.
enum class Rounding : uint8_t {
  away,      // of int32: halves away from 0
  up,        // of int32: halves up
  eights,    // of int32: up in whole groups of eight channels, away in those left over
  sixteens,  // of int32: the same by sixteen
  once,      // of int64: the whole product is rounded once
  brief,     // of int64: the factor has 15 bits
};
/// Numbers of the first output: sums times the factors (one, or one a channel), its zero, and
/// what they are moved by.
Tensor output_of(const Call& c, const Tensor& sums, std::span<const double> factors,
                 Rounding rounding, int32_t moved_by = 0);
/// Cut to the range, as the dtype.
Tensor to_numbers(const Numbers& output, const Tensor& x, const Numbers::Range& range);

/// The input as integers (or reals that hold integers) of this dtype, its zero taken away.
Tensor less_zero(const Call& c, size_t input, const Numbers& numbers, DType wide);

}  // namespace tidemark::io::tflite
