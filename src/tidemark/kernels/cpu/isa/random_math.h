// What turns uniform bits into distributions, over vectors of float and double.
#pragma once

#include "tidemark/kernels/cpu/isa/lanes.h"

namespace tidemark::cpu::TIDEMARK_ISA {

template <class A>
struct BitsOf;
template <>
struct BitsOf<float> {
  using Int = int32_t;
  using Unsigned = uint32_t;
  static constexpr int kMantissa = 23;
  static constexpr Int kHalfRoot = 0x3f3504f3;  // sqrt(1/2)
};
template <>
struct BitsOf<double> {
  using Int = int64_t;
  using Unsigned = uint64_t;
  static constexpr int kMantissa = 52;
  static constexpr Int kHalfRoot = 0x3fe6a09e667f3bcd;
};

/// Natural logarithm of positive normal numbers: ln m = 2 artanh((m - 1) / (m + 1)) for the
/// mantissa m in [sqrt(1/2), sqrt(2)).
template <class A>
[[gnu::always_inline]] inline Vec<A> log_lanes(Vec<A> x) {
  using B = BitsOf<A>;
  using I = Vec<typename B::Int>;
  const I bits = bits_as<I>(x);
  const I exponent = (bits - B::kHalfRoot) >> B::kMantissa;
  const Vec<A> m = bits_as<Vec<A>>(bits - (exponent << B::kMantissa));
  const Vec<A> s = (m - A{1}) / (m + A{1});
  const Vec<A> z = s * s;
  Vec<A> p;
  if constexpr (sizeof(A) == 4) {
    p = z * (1.f / 9) + 1.f / 7;
    p = p * z + 1.f / 5;
    p = p * z + 1.f / 3;
  } else {
    p = z * (1. / 21) + 1. / 19;
    p = p * z + 1. / 17;
    p = p * z + 1. / 15;
    p = p * z + 1. / 13;
    p = p * z + 1. / 11;
    p = p * z + 1. / 9;
    p = p * z + 1. / 7;
    p = p * z + 1. / 5;
    p = p * z + 1. / 3;
  }
  const Vec<A> mantissa_log = A{2} * s + A{2} * s * z * p;
  return __builtin_convertvector(exponent, Vec<A>) * static_cast<A>(0.693147180559945309) +
         mantissa_log;
}

template <class A>
[[gnu::always_inline]] inline Vec<A> sqrt_lanes(Vec<A> x) {
  Vec<A> y;
  for (int64_t l = 0; l < kLanes<A>; ++l) {
    y[l] = sizeof(A) == 4 ? __builtin_sqrtf(x[l]) : __builtin_sqrt(x[l]);
  }
  return y;
}

/// Sine and cosine of a turn given as an unsigned fraction of 2^bits: quadrants by the two highest
/// bits, the rest by Taylor's series within an eighth of a turn.
template <class A>
[[gnu::always_inline]] inline void sincos_of_turn(Vec<typename BitsOf<A>::Unsigned> turn,
                                                  Vec<A>& sine, Vec<A>& cosine) {
  using B = BitsOf<A>;
  using U = Vec<typename B::Unsigned>;
  using I = Vec<typename B::Int>;
  constexpr int kShift = sizeof(A) * 8 - 2;
  const U quadrant = (turn + (typename B::Unsigned{1} << (kShift - 1))) >> kShift;
  const I rest = bits_as<I>(turn - (quadrant << kShift));
  constexpr double kScale = sizeof(A) == 4 ? 0x1p-30 : 0x1p-62;
  const Vec<A> t =
      __builtin_convertvector(rest, Vec<A>) * static_cast<A>(kScale * 1.57079632679489661923);
  const Vec<A> z = t * t;
  constexpr double kSine[] = {
      -1. / 6,        1. / 120,        -1. / 5040,          1. / 362880,
      -1. / 39916800, 1. / 6227020800, -1. / 1307674368000, 1. / 355687428096000};
  constexpr double kCosine[] = {
      -1. / 2,       1. / 24,        -1. / 720,         1. / 40320,
      -1. / 3628800, 1. / 479001600, -1. / 87178291200, 1. / 20922789888000};
  constexpr int kTerms = sizeof(A) == 4 ? 4 : 8;
  Vec<A> p = broadcast(static_cast<A>(kSine[kTerms - 1]));
  Vec<A> q = broadcast(static_cast<A>(kCosine[kTerms - 1]));
#pragma GCC unroll 8
  for (int i = kTerms - 2; i >= 0; --i) {
    p = p * z + static_cast<A>(kSine[i]);
    q = q * z + static_cast<A>(kCosine[i]);
  }
  const Vec<A> s = t + t * z * p, c = A{1} + z * q;
  const auto odd = (quadrant & 1) != 0;
  const U negative_sine = (quadrant & 2) << kShift;
  const U negative_cosine = ((quadrant + 1) & 2) << kShift;
  sine = bits_as<Vec<A>>(bits_as<U>(odd ? c : s) ^ negative_sine);
  cosine = bits_as<Vec<A>>(bits_as<U>(odd ? s : c) ^ negative_cosine);
}

/// Two independent normal numbers a lane from a uniform number in (0, 1] and a turn.
template <class A>
[[gnu::always_inline]] inline void box_muller(Vec<A> uniform,
                                              Vec<typename BitsOf<A>::Unsigned> turn, Vec<A>& first,
                                              Vec<A>& second) {
  Vec<A> sine, cosine;
  sincos_of_turn<A>(turn, sine, cosine);
  const Vec<A> minus_two_log = A{-2} * log_lanes<A>(uniform);
  const Vec<A> radius = sqrt_lanes<A>(minus_two_log < A{0} ? Vec<A>{} : minus_two_log);
  first = radius * cosine;
  second = radius * sine;
}

/// sqrt(2) times the inverse error function for |y| <= erf(sqrt(2)) (Giles' central polynomial).
[[gnu::always_inline]] inline Vec<float> central_normal_quantile(Vec<float> y) {
  const Vec<float> w = -log_lanes<float>((1.f - y) * (1.f + y)) - 2.5f;
  Vec<float> p = w * 2.81022636e-08f + 3.43273939e-07f;
  p = p * w - 3.5233877e-06f;
  p = p * w - 4.39150654e-06f;
  p = p * w + 0.00021858087f;
  p = p * w - 0.00125372503f;
  p = p * w - 0.00417768164f;
  p = p * w + 0.246640727f;
  p = p * w + 1.50140941f;
  return p * y * 1.41421356f;
}

}  // namespace tidemark::cpu::TIDEMARK_ISA
