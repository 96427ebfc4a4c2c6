// Vectors as long as the level's registers. Included by isa/*.cpp only, so everything here lives in
// the level's namespace.
#pragma once

#include <tidemark/dtype.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace tidemark::cpu::TIDEMARK_ISA {

#if defined(__AVX512F__)
inline constexpr size_t kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr size_t kVectorBytes = 32;
#else
inline constexpr size_t kVectorBytes = 16;
#endif

template <class A>
struct LanesOf {
  static constexpr int64_t count = static_cast<int64_t>(kVectorBytes / sizeof(A));
  typedef A Vec __attribute__((vector_size(kVectorBytes)));
};
template <class A>
using Vec = typename LanesOf<A>::Vec;
template <class A>
inline constexpr int64_t kLanes = LanesOf<A>::count;

/// Sums along rows are kept in as many lanes as the widest level has, in parts where this level's
/// vectors are shorter: every level adds the same elements in the same order.
inline constexpr int kParts = 64 / kVectorBytes;
template <class A>
inline constexpr int64_t kWideLanes = kParts* kLanes<A>;

template <class A>
struct Wide {
  Vec<A> part[kParts] = {};

  [[gnu::always_inline]] friend Wide operator+(const Wide& a, const Wide& b) {
    Wide sum;
#pragma GCC unroll 4
    for (int p = 0; p < kParts; ++p) sum.part[p] = a.part[p] + b.part[p];
    return sum;
  }
};

/// Calls fn(first, count, part) for vectors that cover [0, n), each with the part of a Wide that
/// its lanes belong to; only the last one may be partial.
template <class A, class Fn>
[[gnu::always_inline]] inline void for_parts(int64_t n, Fn&& fn) {
  int64_t i = 0;
  for (; i + kWideLanes<A> <= n; i += kWideLanes<A>) {
#pragma GCC unroll 4
    for (int p = 0; p < kParts; ++p) fn(i + p * kLanes<A>, kLanes<A>, p);
  }
#pragma GCC unroll 4
  for (int p = 0; p < kParts; ++p) {
    const int64_t left = n - i - p * kLanes<A>;
    if (left > 0) fn(i + p * kLanes<A>, left < kLanes<A> ? left : kLanes<A>, p);
  }
}

template <class T, int64_t N>
struct Packed {
  typedef T Vec __attribute__((vector_size(sizeof(T) * N)));
};

/// The vector's bits as another vector type of the same size.
template <class To, class From>
[[gnu::always_inline]] inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}

template <class A>
[[gnu::always_inline]] inline Vec<A> broadcast(A value) {
  return value - Vec<A>{};  // subtraction of zero keeps NaN, infinities and -0
}

/// a where it is less than b, else b: where b is NaN, NaN.
[[gnu::always_inline]] inline Vec<float> lesser_of(Vec<float> a, Vec<float> b) {
#if defined(__AVX512F__)
  return _mm512_maskz_min_ps(0xffff, a, b);  // the plain form warns in g++ 12
#elif defined(__AVX__)
  return _mm256_min_ps(a, b);
#elif defined(__SSE2__)
  return _mm_min_ps(a, b);
#else
  return a < b ? a : b;
#endif
}
/// a where it is greater than b, else b.
[[gnu::always_inline]] inline Vec<float> greater_of(Vec<float> a, Vec<float> b) {
#if defined(__AVX512F__)
  return _mm512_maskz_max_ps(0xffff, a, b);
#elif defined(__AVX__)
  return _mm256_max_ps(a, b);
#elif defined(__SSE2__)
  return _mm_max_ps(a, b);
#else
  return a > b ? a : b;
#endif
}

/// float16 bits in the low halves of 32-bit lanes to float: scaling by 2^112 renormalises
/// subnormals; infinities and NaN get the full exponent put in.
[[gnu::always_inline]] inline Vec<float> half_to_float(Vec<uint32_t> h) {
  const Vec<uint32_t> magnitude = (h & 0x7fffu) << 13;
  const Vec<float> scaled = bits_as<Vec<float>>(magnitude) * 0x1p112f;
  Vec<uint32_t> bits = bits_as<Vec<uint32_t>>(scaled);
  const auto special = magnitude >= 0x0f800000u;
  bits |= bits_as<Vec<uint32_t>>(special) & 0x7f800000u;
  return bits_as<Vec<float>>(bits | ((h & 0x8000u) << 16));
}

/// kLanes<A> elements from x on, as lanes.
template <class A, class T>
[[gnu::always_inline]] inline Vec<A> load(const T* x) {
  constexpr int64_t n = kLanes<A>;
  if constexpr (sizeof(T) == sizeof(A)) {
    Vec<A> v;  // signed and unsigned of one size share their bits
    __builtin_memcpy(&v, x, sizeof(v));
    return v;
  } else if constexpr (__is_same(T, Half) || __is_same(T, BFloat16)) {
    typename Packed<uint16_t, n>::Vec raw;
    __builtin_memcpy(&raw, x, sizeof(raw));
    const Vec<uint32_t> wide = __builtin_convertvector(raw, Vec<uint32_t>);
    if constexpr (__is_same(T, Half)) return half_to_float(wide);
    return bits_as<Vec<float>>(wide << 16);
  } else {
    typename Packed<T, n>::Vec raw;
    __builtin_memcpy(&raw, x, sizeof(raw));
    return __builtin_convertvector(raw, Vec<A>);
  }
}

/// The first `count` lanes from x on, the others zero bits; reads nothing behind them.
template <class A, class T>
[[gnu::always_inline]] inline Vec<A> load_part(const T* x, int64_t count) {
  alignas(64) unsigned char buffer[sizeof(T) * kLanes<A>] = {};
  __builtin_memcpy(buffer, x, sizeof(T) * static_cast<size_t>(count));
  return load<A>(reinterpret_cast<const T*>(buffer));
}

/// Lanes of every row of a strided column.
template <class A, class T>
[[gnu::always_inline]] inline Vec<A> load_strided(const T* x, int64_t stride, int64_t count) {
  alignas(64) T buffer[kLanes<A>];
  for (int64_t l = 0; l < kLanes<A>; ++l) {
    __builtin_memcpy(&buffer[l], &x[l < count ? l * stride : 0], sizeof(T));
  }
  return load<A>(buffer);
}

/// True in the lanes below `count`.
template <class A>
[[gnu::always_inline]] inline auto lanes_below(int64_t count) {
  typedef decltype(Vec<A>{} < Vec<A>{}) Mask;
  Mask index;
  for (int64_t l = 0; l < kLanes<A>; ++l) index[l] = l;
  Mask bound;
  for (int64_t l = 0; l < kLanes<A>; ++l) bound[l] = count;
  return index < bound;
}

}  // namespace tidemark::cpu::TIDEMARK_ISA
