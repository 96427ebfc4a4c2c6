// The order of numbers, total: NaN comes after everything, whichever the direction.
#pragma once

#include <tidemark/dtype.h>

#include <type_traits>

namespace tidemark::cpu {

/// Values that compare; halves as floats.
template <class T>
auto comparable(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

/// Descending false: a comes before b when it is smaller.
template <class T, bool Descending>
bool comes_before(T a, T b) {
  const auto x = comparable(a), y = comparable(b);
  if constexpr (std::is_floating_point_v<decltype(x)>) {
    if (y != y) return x == x;  // b is NaN
  }
  return Descending ? x > y : x < y;
}

}  // namespace tidemark::cpu
