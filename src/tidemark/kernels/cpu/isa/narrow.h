// Single elements to and from lane types, for the edges of vectorised loops.
#pragma once

#include <tidemark/dtype.h>

namespace tidemark::cpu::TIDEMARK_ISA {

template <class To, class From>
[[gnu::always_inline]] inline To bit_copy(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}

/// The element as a lane: float16 and bfloat16 become float.
template <class A, class T>
[[gnu::always_inline]] inline A widened(T value) {
  if constexpr (__is_same(T, BFloat16)) {
    return bit_copy<float>(static_cast<uint32_t>(value.bits) << 16);
  } else if constexpr (__is_same(T, Half)) {
    const uint32_t magnitude = (value.bits & 0x7fffu) << 13;
    uint32_t bits = bit_copy<uint32_t>(bit_copy<float>(magnitude) * 0x1p112f);
    if (magnitude >= 0x0f800000u) bits |= 0x7f800000u;
    return bit_copy<float>(bits | (value.bits & 0x8000u) << 16);
  } else {
    return static_cast<A>(value);
  }
}

/// Rounds a lane to the element, to nearest even. Branches are plain selections, so that loops
/// over this vectorise.
template <class A, class T>
[[gnu::always_inline]] inline void narrow(A lane, T& out) {
  if constexpr (__is_same(T, BFloat16)) {
    const uint32_t f = bit_copy<uint32_t>(lane);
    const uint32_t rounded = (f + 0x7fffu + ((f >> 16) & 1u)) >> 16;
    out.bits = static_cast<uint16_t>((f & 0x7fffffffu) > 0x7f800000u ? (f >> 16) | 0x40u : rounded);
  } else if constexpr (__is_same(T, Half)) {
    const uint32_t all = bit_copy<uint32_t>(lane);
    const uint32_t sign = (all >> 16) & 0x8000u;
    const uint32_t f = all & 0x7fffffffu;
    const uint32_t normal = (f + 0xc8000fffu + ((f >> 13) & 1u)) >> 13;
    // Adding one half moves the bits of a subnormal to where float's rounding handles them.
    const uint32_t small = bit_copy<uint32_t>(bit_copy<float>(f) + 0.5f) - 0x3f000000u;
    uint32_t bits = f < 0x38800000u ? small : normal;
    bits = f >= 0x47800000u ? 0x7c00u : bits;
    bits = f > 0x7f800000u ? 0x7e00u : bits;
    out.bits = static_cast<uint16_t>(sign | bits);
  } else {
    out = static_cast<T>(lane);
  }
}

}  // namespace tidemark::cpu::TIDEMARK_ISA
