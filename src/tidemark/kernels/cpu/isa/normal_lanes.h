// The normal distribution over vectors of floats: its density, and the tail, which is the
// probability of more than t. The tail is the density times Mills' ratio, a function that varies
// so little that one quotient of two polynomials serves it everywhere. The tail is within 4.5 ulp
// up to t = 5 (6 where products are rounded before they are added) and a few more further out.
#pragma once

#include "tidemark/kernels/cpu/isa/lanes.h"

namespace tidemark::cpu::TIDEMARK_ISA {

/// Past this t the density is no normal float; everything there counts as this far out.
inline constexpr float kFarOut = 13.f;

/// |x|, at most kFarOut; NaN stays NaN.
[[gnu::always_inline]] inline Vec<float> distance_lanes(Vec<float> x) {
  const Vec<float> t = bits_as<Vec<float>>(bits_as<Vec<uint32_t>>(x) & 0x7fffffffu);
  return lesser_of(broadcast(kFarOut), t);
}

/// What rounding took from `square`, which is t * t rounded.
[[gnu::always_inline]] inline Vec<float> lost_of_square(Vec<float> t, Vec<float> square) {
#if defined(__AVX512F__)
  return _mm512_fmsub_ps(t, t, square);
#elif defined(__FMA__)
  return _mm256_fmsub_ps(t, t, square);
#else
  // In parts of 12 bits, whose products are exact.
  const Vec<float> high = bits_as<Vec<float>>(bits_as<Vec<uint32_t>>(t) & 0xfffff000u);
  const Vec<float> low = t - high;
  return ((high * high - square) + high * low * 2.f) + low * low;
#endif
}

/// exp(-t^2 / 2) / sqrt(2 pi) for 0 <= t <= kFarOut.
[[gnu::always_inline]] inline Vec<float> density_lanes(Vec<float> t) {
  const Vec<float> square = t * t;
  const Vec<float> magic = broadcast(12582912.f);  // 1.5 * 2^23: adding it rounds to an integer
  const Vec<float> shifted = magic - square * 0.72134752f;
  const Vec<float> n = shifted - magic;
  // r / 2 lies within ln 2 / 2 of 0.
  Vec<float> r = (-square - n * 1.38671875f) - n * -4.2438880e-4f;
  r -= lost_of_square(t, square);
  Vec<float> p = r * 8.6251721e-06f + 0.000104408507f;
  p = p * r + 0.00103894249f;
  p = p * r + 0.00831114873f;
  p = p * r + 0.0498677529f;
  p = p * r + 0.199471146f;
  p = p * r + 0.398942292f;
  return bits_as<Vec<float>>(bits_as<Vec<int32_t>>(p) + (bits_as<Vec<int32_t>>(shifted) << 23));
}

/// The tail at t divided by the density at t, for 0 <= t <= kFarOut.
[[gnu::always_inline]] inline Vec<float> mills_ratio_lanes(Vec<float> t) {
  Vec<float> p = t + 9.44291592f;
  p = p * t + 41.1982269f;
  p = p * t + 95.7983246f;
  p = p * t + 105.311813f;
  Vec<float> q = t + 9.44303608f;
  q = q * t + 42.1930618f;
  q = q * t + 105.33744f;
  q = q * t + 143.479721f;
  q = q * t + 84.0266647f;
  return p / q;
}

}  // namespace tidemark::cpu::TIDEMARK_ISA
