// A product with a factor below 2^31 held in integers: multiplier / 2^31 * 2^shift.
#pragma once

#include <cstdint>

namespace tidemark {

/// The upper half of twice the product, rounded, then shifted down and rounded again. A shift
/// above 0 comes before the product. What does not fit wraps around.
[[gnu::always_inline]] inline int32_t multiply_fixed_point(int32_t x, int32_t multiplier,
                                                           int32_t shift, bool halves_away) {
  const int up = shift < 0 ? 0 : shift > 31 ? 31 : shift;
  const int down = shift > 0 ? 0 : shift < -31 ? 31 : -shift;
  const auto shifted = static_cast<int32_t>(static_cast<uint32_t>(x) << up);
  const int64_t high = (int64_t{shifted} * multiplier + (int64_t{1} << 30)) >> 31;
  const int64_t half = (int64_t{1} << down) >> 1;
  const int64_t towards_zero = halves_away && down > 0 ? high >> 63 : 0;
  return static_cast<int32_t>((high + half + towards_zero) >> down);
}

}  // namespace tidemark
