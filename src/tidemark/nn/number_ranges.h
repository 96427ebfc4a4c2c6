// The least and the greatest numbers of dtypes.
#pragma once

#include <tidemark/dtype.h>

#include <cstdint>

namespace tidemark::nn {

struct IntegerRange {
  int64_t lowest;
  uint64_t highest;
};
constexpr IntegerRange integer_range(DType d) {
  const int bits = 8 * static_cast<int>(size_of(d));
  const uint64_t all = ~uint64_t{0} >> (64 - bits);
  if (!is_signed(d)) return {0, all};
  return {-static_cast<int64_t>(all >> 1) - 1, all >> 1};
}

constexpr double highest_float(DType d) {
  switch (d) {
    case DType::float16:
      return 65504;
    case DType::bfloat16:
      return 0x1.fep127;
    case DType::float32:
      return 0x1.fffffep127;
    default:
      return 0x1.fffffffffffffp1023;
  }
}

/// Of integers rounded, and of uint64 and int64 therefore too large by one.
constexpr double highest_number(DType d) {
  return is_floating(d) ? highest_float(d) : static_cast<double>(integer_range(d).highest);
}

}  // namespace tidemark::nn
