// exp over vectors: range reduction by ln 2 and a polynomial, within 2 ulp. Results below the
// smallest normal number are flushed to zero.
#pragma once

#include "tidemark/kernels/cpu/isa/lanes.h"

namespace tidemark::cpu::TIDEMARK_ISA {

[[gnu::always_inline]] inline Vec<float> exp_lanes(Vec<float> x) {
  const Vec<float> magic = broadcast(12582912.f);  // 1.5 * 2^23: adding it rounds to an integer
  const Vec<float> shifted = x * 1.44269504f + magic;
  const Vec<float> n = shifted - magic;
  const Vec<float> r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  Vec<float> p = r * (1.f / 5040) + 1.f / 720;
  p = p * r + 1.f / 120;
  p = p * r + 1.f / 24;
  p = p * r + 1.f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.f;
  p = p * r + 1.f;
  // Two factors, so that results near the largest float do not overflow on the way.
  const Vec<int32_t> whole = bits_as<Vec<int32_t>>(shifted) - 0x4b400000;
  const Vec<int32_t> first = whole >> 1;
  p = p * bits_as<Vec<float>>((first + 127) << 23);
  p = p * bits_as<Vec<float>>((whole - first + 127) << 23);
  p = x < -87.3f ? Vec<float>{} : p;
  return x > 88.8f ? broadcast(__builtin_inff()) : p;
}

[[gnu::always_inline]] inline Vec<double> exp_lanes(Vec<double> x) {
  const Vec<double> magic = broadcast(6755399441055744.0);  // 1.5 * 2^52
  const Vec<double> shifted = x * 1.4426950408889634 + magic;
  const Vec<double> n = shifted - magic;
  const Vec<double> r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
  constexpr double kFactorials[] = {479001600, 39916800, 3628800, 362880, 40320, 5040, 720,
                                    120,       24,       6,       2,      1,     1};
  Vec<double> p = broadcast(1.0 / 6227020800.0);
  for (const double factorial : kFactorials) p = p * r + 1.0 / factorial;
  const Vec<int64_t> whole = bits_as<Vec<int64_t>>(shifted) - 0x4338000000000000;
  const Vec<int64_t> first = whole >> 1;
  p = p * bits_as<Vec<double>>((first + 1023) << 52);
  p = p * bits_as<Vec<double>>((whole - first + 1023) << 52);
  p = x < -708.3 ? Vec<double>{} : p;
  return x > 709.79 ? broadcast(__builtin_inf()) : p;
}

}  // namespace tidemark::cpu::TIDEMARK_ISA
