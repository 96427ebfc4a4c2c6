// The normal distribution over vectors of floats: the bell exp(-t^2 / 2), and the tail, which is
// the probability of more than t. The tail is the bell times a function that varies so little that
// one polynomial in (t - k) / (t + k) serves it everywhere: within 5 ulp up to t = 5, and 10 at the
// last t whose bell is a normal float.
#pragma once

#include "tidemark/kernels/cpu/isa/lanes.h"

namespace tidemark::cpu::TIDEMARK_ISA {

/// Past this t the bell is no normal float; everything there counts as this far out.
inline constexpr float kFarOut = 13.f;

/// |x|, at most kFarOut; NaN stays NaN.
[[gnu::always_inline]] inline Vec<float> distance_lanes(Vec<float> x) {
  const Vec<float> t = bits_as<Vec<float>>(bits_as<Vec<uint32_t>>(x) & 0x7fffffffu);
  return lesser_of(broadcast(kFarOut), t);
}

/// exp(-t^2 / 2) for 0 <= t <= kFarOut.
[[gnu::always_inline]] inline Vec<float> bell_lanes(Vec<float> t) {
  // t^2 in two parts without rounding: the square of 12 bits, and what is left of t times a sum.
  const Vec<float> high = bits_as<Vec<float>>(bits_as<Vec<uint32_t>>(t) & 0xfffff000u);
  const Vec<float> square = high * high;
  const Vec<float> magic = broadcast(12582912.f);  // 1.5 * 2^23: adding it rounds to an integer
  const Vec<float> shifted = magic - square * 0.72134752f;
  const Vec<float> n = shifted - magic;
  // r / 2 lies within ln 2 / 2 of 0.
  Vec<float> r = (-square - n * 1.38671875f) - n * -4.2438880e-4f;
  r -= (t - high) * (t + high);
  Vec<float> p = r * 2.159304312954191e-05f + 0.0002615216071717441f;
  p = p * r + 0.0026042675599455833f;
  p = p * r + 0.020833151414990425f;
  p = p * r + 0.1249999850988388f;
  p = p * r + 0.5f;
  p = p * r + 1.f;
  return bits_as<Vec<float>>(bits_as<Vec<int32_t>>(p) + (bits_as<Vec<int32_t>>(shifted) << 23));
}

/// The tail at t divided by the bell at t, for 0 <= t <= kFarOut.
[[gnu::always_inline]] inline Vec<float> tail_over_bell_lanes(Vec<float> t) {
  const Vec<float> u = (t - 2.8284270763397217f) / (t + 2.8284270763397217f);
  Vec<float> p = u * 5.278049502521753e-05f + 2.969873821712099e-05f;
  p = p * u + -0.0004635666264221072f;
  p = p * u + -0.0004256618267390877f;
  p = p * u + 0.003489729017019272f;
  p = p * u + 0.0018669056007638574f;
  p = p * u + -0.03948814421892166f;
  p = p * u + 0.1208290383219719f;
  p = p * u + -0.21359296143054962f;
  return p * u + 0.12769784033298492f;
}

}  // namespace tidemark::cpu::TIDEMARK_ISA
