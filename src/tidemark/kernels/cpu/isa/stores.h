// Writing lanes back as elements.
#pragma once

#include "tidemark/kernels/cpu/isa/lanes.h"
#include "tidemark/kernels/cpu/isa/narrow.h"

namespace tidemark::cpu::TIDEMARK_ISA {

/// The lane type of an element: what it is computed in.
template <class T>
struct LaneOf {
  using type = T;
};
template <>
struct LaneOf<Half> {
  using type = float;
};
template <>
struct LaneOf<BFloat16> {
  using type = float;
};

/// All lanes to y, rounded to nearest even where elements are narrower.
template <class A, class T>
[[gnu::always_inline]] inline void store(T* y, Vec<A> lanes) {
  if constexpr (__is_same(A, T)) {
    __builtin_memcpy(y, &lanes, sizeof(lanes));
  } else {
    alignas(64) A wide[kLanes<A>];
    alignas(64) T narrowed[kLanes<A>];
    __builtin_memcpy(wide, &lanes, sizeof(lanes));
    for (int64_t l = 0; l < kLanes<A>; ++l) narrow(wide[l], narrowed[l]);
    __builtin_memcpy(y, narrowed, sizeof(narrowed));
  }
}

/// The first `count` lanes.
template <class A, class T>
[[gnu::always_inline]] inline void store_part(T* y, Vec<A> lanes, int64_t count) {
  alignas(64) T all[kLanes<A>];
  store<A>(all, lanes);
  __builtin_memcpy(y, all, sizeof(T) * static_cast<size_t>(count));
}

/// Calls fn(first, count) for vectors that cover [0, n); the last one may be partial.
template <class A, class Fn>
[[gnu::always_inline]] inline void for_vectors(int64_t n, Fn&& fn) {
  int64_t i = 0;
  for (; i + kLanes<A> <= n; i += kLanes<A>) fn(i, kLanes<A>);
  if (i < n) fn(i, n - i);
}

/// `count` lanes: all of them without a detour.
template <class A, class T>
[[gnu::always_inline]] inline Vec<A> load_some(const T* x, int64_t count) {
  return count == kLanes<A> ? load<A>(x) : load_part<A>(x, count);
}
template <class A, class T>
[[gnu::always_inline]] inline void store_some(T* y, Vec<A> lanes, int64_t count) {
  if (count == kLanes<A>) {
    store<A>(y, lanes);
  } else {
    store_part<A>(y, lanes, count);
  }
}

template <class A>
[[gnu::always_inline]] inline A sum_of_lanes(Vec<A> v) {
  alignas(64) A lanes[kLanes<A>];
  __builtin_memcpy(lanes, &v, sizeof(v));
  for (int64_t half = kLanes<A> / 2; half > 0; half /= 2) {
    for (int64_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  }
  return lanes[0];
}

template <class A>
[[gnu::always_inline]] inline A sum_of_lanes(const Wide<A>& wide) {
  if constexpr (kParts == 4) {
    return sum_of_lanes<A>((wide.part[0] + wide.part[2]) + (wide.part[1] + wide.part[3]));
  } else if constexpr (kParts == 2) {
    return sum_of_lanes<A>(wide.part[0] + wide.part[1]);
  } else {
    return sum_of_lanes<A>(wide.part[0]);
  }
}

template <class A>
[[gnu::always_inline]] inline A max_of_lanes(Vec<A> v) {
  alignas(64) A lanes[kLanes<A>];
  __builtin_memcpy(lanes, &v, sizeof(v));
  for (int64_t half = kLanes<A> / 2; half > 0; half /= 2) {
    for (int64_t l = 0; l < half; ++l)
      lanes[l] = lanes[l + half] > lanes[l] ? lanes[l + half] : lanes[l];
  }
  return lanes[0];
}

}  // namespace tidemark::cpu::TIDEMARK_ISA
