// What ops do to one element, as CUDA C++: the text in front of every kernel that is written while
// the process runs. NVRTC gets it without any header, so it includes nothing; a test compiles it
// for the host, where it must give what the CPU's loops give.

namespace tm {

typedef signed char int8;
typedef unsigned char uint8;
typedef short int16;
typedef unsigned short uint16;
typedef int int32;
typedef unsigned int uint32;
typedef long long int64;
typedef unsigned long long uint64;

// --- Half types: stored in 16 bits, computed in float and rounded after every instruction
// ---------

struct Half {
  uint16 bits;
};
struct BFloat16 {
  uint16 bits;
};

union Bits32 {
  float number;
  uint32 bits;
};
inline float from_bits(uint32 bits) {
  Bits32 both;
  both.bits = bits;
  return both.number;
}
inline uint32 bits_of(float x) {
  Bits32 both;
  both.number = x;
  return both.bits;
}

inline float widen(BFloat16 x) { return from_bits(static_cast<uint32>(x.bits) << 16); }
inline float widen(Half x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
#else
  const uint32 sign = static_cast<uint32>(x.bits & 0x8000u) << 16, rest = x.bits & 0x7fffu;
  if (rest >= 0x7c00u) return from_bits(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
  if (rest < 0x400u) {  // a multiple of 2^-24
    const float small = static_cast<float>(rest) * 5.9604644775390625e-8f;
    return sign ? -small : small;
  }
  return from_bits(sign | ((rest << 13) + 0x38000000u));
#endif
}

/// To the nearest, halves to even.
inline void narrow(float x, BFloat16& to) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(to.bits) : "f"(x));
#else
  const uint32 bits = bits_of(x);
  to.bits = x != x ? static_cast<uint16>(bits >> 16 | 0x40u)
                   : static_cast<uint16>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
#endif
}
inline void narrow(float x, Half& to) {
#ifdef __CUDA_ARCH__
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to.bits) : "f"(x));
#else
  const uint32 bits = bits_of(x), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
  uint32 half;
  if (rest > 0x7f800000u) {
    half = 0x7e00u;
  } else if (rest >= 0x477ff000u) {  // from 65520 on
    half = 0x7c00u;
  } else if (rest < 0x38800000u) {  // below 2^-14: the sum's last bits are multiples of 2^-24
    half = bits_of(from_bits(rest) + 0.5f) - 0x3f000000u;
  } else {
    half = (rest - 0x38000000u + 0xfffu + (rest >> 13 & 1u)) >> 13;
  }
  to.bits = static_cast<uint16>(sign | half);
#endif
}
template <class Stored>
float rounded(float x) {
  Stored stored;
  narrow(x, stored);
  return widen(stored);
}

// --- Elements in memory
// ---------------------------------------------------------------------------

template <class T>
T load(const void* from, int64 i, T) {
  return static_cast<const T*>(from)[i];
}
inline float load(const void* from, int64 i, Half) {
  return widen(static_cast<const Half*>(from)[i]);
}
inline float load(const void* from, int64 i, BFloat16) {
  return widen(static_cast<const BFloat16*>(from)[i]);
}
template <class T>
void store(void* to, int64 i, T x, T) {
  static_cast<T*>(to)[i] = x;
}
inline void store(void* to, int64 i, float x, Half) { narrow(x, static_cast<Half*>(to)[i]); }
inline void store(void* to, int64 i, float x, BFloat16) {
  narrow(x, static_cast<BFloat16*>(to)[i]);
}

/// Neighbours in memory, read and written by one access where they lie so.
template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  T of[N];
};
template <class P>
bool is_packed(const void* at) {
  return reinterpret_cast<uint64>(at) % alignof(P) == 0;
}
/// From element i on; behind `count` there are none.
template <class T, int N>
Pack<T, N> load_pack(const void* from, int64 i, int64 count, T) {
  const T* first = static_cast<const T*>(from) + i;
  if (i + N <= count && is_packed<Pack<T, N>>(from)) {
    return *reinterpret_cast<const Pack<T, N>*>(first);
  }
  Pack<T, N> pack;
#pragma unroll
  for (int k = 0; k < N; ++k) pack.of[k] = first[i + k < count ? k : 0];
  return pack;
}
template <class T, int N>
void store_pack(void* to, int64 i, int64 count, const Pack<T, N>& pack) {
  T* first = static_cast<T*>(to) + i;
  if (i + N <= count && is_packed<Pack<T, N>>(to)) {
    *reinterpret_cast<Pack<T, N>*>(first) = pack;
    return;
  }
#pragma unroll
  for (int k = 0; k < N; ++k) {
    if (i + k < count) first[k] = pack.of[k];
  }
}

// --- Kinds of numbers
// -----------------------------------------------------------------------------

/// Integers wrap around; signed overflow would be undefined, so they compute unsigned.
template <class T>
struct Kind {
  typedef T Wrapped;
  static constexpr bool is_float = false;
};
template <>
struct Kind<float> {
  typedef float Wrapped;
  static constexpr bool is_float = true;
};
template <>
struct Kind<double> {
  typedef double Wrapped;
  static constexpr bool is_float = true;
};
template <>
struct Kind<int8> {
  typedef uint32 Wrapped;
  static constexpr bool is_float = false;
};
template <>
struct Kind<uint8> : Kind<int8> {};
template <>
struct Kind<int16> : Kind<int8> {};
template <>
struct Kind<uint16> : Kind<int8> {};
template <>
struct Kind<int32> : Kind<int8> {};
template <>
struct Kind<int64> {
  typedef uint64 Wrapped;
  static constexpr bool is_float = false;
};
template <class T>
using Wrap = typename Kind<T>::Wrapped;

template <class A, class B>
struct Same {
  static constexpr bool value = false;
};
template <class A>
struct Same<A, A> {
  static constexpr bool value = true;
};

template <class R>
struct Complex {
  R re, im;
};
template <class T>
struct PartOf {
  static constexpr bool is_complex = false;
};
template <class R>
struct PartOf<Complex<R>> {
  typedef R Type;
  static constexpr bool is_complex = true;
};

/// A number too large for an integer becomes the nearest it can hold, NaN becomes 0. A bool is
/// whether the number differs from 0. A complex number loses its imaginary part.
template <class To, class From>
To convert(From x) {
  if constexpr (PartOf<From>::is_complex && PartOf<To>::is_complex) {
    typedef typename PartOf<To>::Type R;
    return {static_cast<R>(x.re), static_cast<R>(x.im)};
  } else if constexpr (PartOf<From>::is_complex) {
    return convert<To>(x.re);
  } else if constexpr (PartOf<To>::is_complex) {
    return {convert<typename PartOf<To>::Type>(x), 0};
  } else if constexpr (Same<To, bool>::value) {
    return x != 0;
  } else if constexpr (Kind<From>::is_float && !Kind<To>::is_float) {
    constexpr int bits = sizeof(To) * 8;
    constexpr bool has_sign = To(-1) < To(0);
    constexpr To lowest = has_sign ? To(uint64(1) << (bits - 1)) : To(0);
    constexpr To highest = To(~lowest);
    constexpr From half = From(uint64(1) << (bits - 1));  // a power of two, so exact
    constexpr From above = has_sign ? half : 2 * half;
    constexpr From below = has_sign ? -half : From(0);
    if (x >= above) return highest;
    if (x < below) return lowest;
    return x == x ? static_cast<To>(x) : To(0);
  } else {
    return static_cast<To>(x);
  }
}

// --- Functions of the mathematics library, by the type of their argument
// --------------------------

namespace math {

#define TIDEMARK_MATH1(name)                          \
  inline float name(float x) { return ::name##f(x); } \
  inline double name(double x) { return ::name(x); }
#define TIDEMARK_MATH2(name)                                      \
  inline float name(float x, float y) { return ::name##f(x, y); } \
  inline double name(double x, double y) { return ::name(x, y); }
TIDEMARK_MATH1(exp)
TIDEMARK_MATH1(expm1)
TIDEMARK_MATH1(log)
TIDEMARK_MATH1(log1p)
TIDEMARK_MATH1(sin)
TIDEMARK_MATH1(cos)
TIDEMARK_MATH1(tan)
TIDEMARK_MATH1(asin)
TIDEMARK_MATH1(acos)
TIDEMARK_MATH1(atan)
TIDEMARK_MATH1(sinh)
TIDEMARK_MATH1(cosh)
TIDEMARK_MATH1(tanh)
TIDEMARK_MATH1(asinh)
TIDEMARK_MATH1(acosh)
TIDEMARK_MATH1(atanh)
TIDEMARK_MATH1(erf)
TIDEMARK_MATH1(erfc)
TIDEMARK_MATH1(sqrt)
TIDEMARK_MATH1(floor)
TIDEMARK_MATH1(ceil)
TIDEMARK_MATH1(trunc)
TIDEMARK_MATH1(rint)
TIDEMARK_MATH1(fabs)
TIDEMARK_MATH2(pow)
TIDEMARK_MATH2(atan2)
TIDEMARK_MATH2(fmod)
TIDEMARK_MATH2(nextafter)
#undef TIDEMARK_MATH1
#undef TIDEMARK_MATH2

}  // namespace math

// --- Parts of ops
// ---------------------------------------------------------------------------------

// NaN on either side comes through.
template <class T>
T larger(T x, T y) {
  return x > y || x != x ? x : y;
}
template <class T>
T smaller(T x, T y) {
  return x < y || x != x ? x : y;
}
template <class T>
T squared(T x) {
  return static_cast<T>(Wrap<T>(x) * Wrap<T>(x));
}
template <class T>
T magnitude(T x) {
  if constexpr (Kind<T>::is_float) {
    return math::fabs(x);
  } else {
    return static_cast<T>(x < T(0) ? Wrap<T>(0) - Wrap<T>(x) : Wrap<T>(x));
  }
}
template <class T>
T to_even(T x) {
  if constexpr (Kind<T>::is_float) {
    return math::rint(x);
  } else {
    return x;
  }
}
/// A count outside the type's width counts as the nearest inside.
template <class T>
int shift_count(T y) {
  constexpr T last = static_cast<T>(sizeof(T) * 8 - 1);
  return static_cast<int>(y < T(0) ? T(0) : y > last ? last : y);
}
template <class T>
T positive_part(T x) {
  return x < T(0) ? T(0) : x;
}
template <class T>
T negative_part(T x) {
  return x > T(0) ? T(0) : x;
}
/// log(1 + e^x) without overflow or loss.
template <class T>
T soft_positive(T x) {
  return positive_part(x) + math::log1p(math::exp(x > T(0) ? -x : x));
}
/// 1 / (1 + e^-x), from the exponential that cannot overflow.
template <class T>
T logistic(T x) {
  const T e = math::exp(x > T(0) ? -x : x);
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}
template <class T>
T gelu(T x, bool is_approximate) {
  if (is_approximate) {
    const T inner = T(0.79788456080286535588) * (x + T(0.044715) * x * x * x);
    return T(0.5) * x * (T(1) + math::tanh(inner));
  }
  // By erfc rather than 1 + erf: nothing cancels for large negative x.
  return T(0.5) * x * math::erfc(x * T(-0.70710678118654752440));
}
template <class T>
T gelu_slope(T x, bool is_approximate) {
  if (is_approximate) {
    const T root = T(0.79788456080286535588);
    const T t = math::tanh(root * (x + T(0.044715) * x * x * x));
    return T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * root * (T(1) + T(0.134145) * x * x);
  }
  const T bell = T(0.39894228040143267794) * math::exp(x * x * T(-0.5));
  return T(0.5) * math::erfc(x * T(-0.70710678118654752440)) + x * bell;
}
/// Of integers: the lowest number over -1 wraps around to itself. A divisor of 0 is found by who
/// launches (elementwise.cpp); here it gives 0.
template <class T>
T cut_quotient(T x, T y) {
  if constexpr (Kind<T>::is_float) {
    return math::trunc(x / y);
  } else {
    if (y == T(0)) return T(0);
    if (T(-1) < T(0) && y == T(-1)) return static_cast<T>(Wrap<T>(0) - Wrap<T>(x));
    return static_cast<T>(x / y);
  }
}
template <class T>
T cut_remainder(T x, T y) {
  if constexpr (Kind<T>::is_float) {
    return math::fmod(x, y);
  } else {
    if (y == T(0) || (T(-1) < T(0) && y == T(-1))) return T(0);
    return static_cast<T>(x % y);
  }
}
template <class T>
T floored_quotient(T x, T y) {
  if constexpr (Kind<T>::is_float) {
    return math::floor(x / y);
  } else {
    const T q = cut_quotient(x, y);
    const bool is_below = cut_remainder(x, y) != T(0) && (x < T(0)) != (y < T(0));
    return static_cast<T>(is_below ? q - 1 : q);
  }
}
template <class T>
T floored_remainder(T x, T y) {
  const T r = cut_remainder(x, y);
  return static_cast<T>(r != T(0) && (r < T(0)) != (y < T(0)) ? r + y : r);
}
template <class T>
T power(T x, T y) {
  if constexpr (Kind<T>::is_float) {
    return math::pow(x, y);
  } else {
    Wrap<T> base = static_cast<Wrap<T>>(x), result = 1;
    for (uint64 e = y < T(0) ? 0 : static_cast<uint64>(y); e != 0; e >>= 1) {
      if (e & 1) result *= base;
      base *= base;
    }
    return static_cast<T>(result);
  }
}

// --- Ops: op_<name>(x, y, z, p), p the op's attributes as numbers
// ---------------------------------

#define TIDEMARK_UNARY(name, ...)                         \
  template <class T>                                      \
  auto op_##name(T x, [[maybe_unused]] const double* p) { \
    return __VA_ARGS__;                                   \
  }
#define TIDEMARK_BINARY(name, ...)                             \
  template <class T>                                           \
  auto op_##name(T x, T y, [[maybe_unused]] const double* p) { \
    return __VA_ARGS__;                                        \
  }

TIDEMARK_BINARY(add, static_cast<T>(Wrap<T>(x) + Wrap<T>(y)))
TIDEMARK_BINARY(subtract, static_cast<T>(Wrap<T>(x) - Wrap<T>(y)))
TIDEMARK_BINARY(multiply, static_cast<T>(Wrap<T>(x) * Wrap<T>(y)))
TIDEMARK_BINARY(truediv, static_cast<T>(x / y))
TIDEMARK_UNARY(negative, static_cast<T>(Kind<T>::is_float ? -x : Wrap<T>(0) - Wrap<T>(x)))
TIDEMARK_UNARY(square, squared(x))
TIDEMARK_BINARY(squared_difference, squared(static_cast<T>(Wrap<T>(x) - Wrap<T>(y))))
TIDEMARK_BINARY(maximum, larger(x, y))
TIDEMARK_BINARY(minimum, smaller(x, y))
template <class T>
T op_clip_by_value(T x, T y, T z, const double*) {
  return larger(smaller(x, z), y);
}
TIDEMARK_UNARY(relu, x < T(0) ? T(0) : x)
TIDEMARK_BINARY(relu_grad, y > T(0) ? x : T(0))
TIDEMARK_UNARY(relu6, x<T(0) ? T(0) : x> T(6) ? T(6) : x)

TIDEMARK_UNARY(abs, magnitude(x))
TIDEMARK_UNARY(sign, x != x ? x : static_cast<T>((x > T(0)) - (x < T(0))))
TIDEMARK_UNARY(floor, math::floor(x))
TIDEMARK_UNARY(ceil, math::ceil(x))
TIDEMARK_UNARY(round, to_even(x))
TIDEMARK_UNARY(rint, to_even(x))
TIDEMARK_UNARY(sqrt, math::sqrt(x))
TIDEMARK_UNARY(rsqrt, T(1) / math::sqrt(x))
TIDEMARK_UNARY(reciprocal, T(1) / x)
TIDEMARK_UNARY(softsign, x / (T(1) + magnitude(x)))
TIDEMARK_UNARY(leaky_relu, x > T(0) ? x : x * static_cast<T>(p[0]))
TIDEMARK_BINARY(floordiv, floored_quotient(x, y))
TIDEMARK_BINARY(truncatediv, cut_quotient(x, y))
TIDEMARK_BINARY(floormod, floored_remainder(x, y))
TIDEMARK_BINARY(truncatemod, cut_remainder(x, y))
TIDEMARK_BINARY(nextafter, math::nextafter(x, y))
TIDEMARK_BINARY(divide_no_nan, (y == T(0) ? T(0) : x) / (y == T(0) ? T(1) : y))
TIDEMARK_BINARY(multiply_no_nan, (y == T(0) ? T(0) : x) * y)
TIDEMARK_BINARY(xdivy, x / (x == T(0) ? T(1) : y))

TIDEMARK_BINARY(equal, x == y)
TIDEMARK_BINARY(not_equal, x != y)
TIDEMARK_BINARY(less, x < y)
TIDEMARK_BINARY(less_equal, x <= y)
TIDEMARK_BINARY(greater, x > y)
TIDEMARK_BINARY(greater_equal, x >= y)
TIDEMARK_BINARY(logical_and, x&& y)
TIDEMARK_BINARY(logical_or, x || y)
TIDEMARK_BINARY(logical_xor, x != y)
TIDEMARK_UNARY(logical_not, !x)
TIDEMARK_UNARY(is_nan, x != x)
TIDEMARK_UNARY(is_inf, x == x && x - x != T(0))
TIDEMARK_UNARY(is_finite, x - x == T(0))

TIDEMARK_BINARY(bitwise_and, static_cast<T>(x& y))
TIDEMARK_BINARY(bitwise_or, static_cast<T>(x | y))
TIDEMARK_BINARY(bitwise_xor, static_cast<T>(x ^ y))
TIDEMARK_BINARY(left_shift, static_cast<T>(Wrap<T>(x) << shift_count(y)))
TIDEMARK_BINARY(right_shift, static_cast<T>(x >> shift_count(y)))
TIDEMARK_UNARY(invert, static_cast<T>(~x))
template <class T>
T op_multiply_fixed_point(T x, T multiplier, T shift, const double* p) {
  const int up = shift < 0 ? 0 : shift > 31 ? 31 : shift;
  const int down = shift > 0 ? 0 : shift < -31 ? 31 : -shift;
  const long long shifted = static_cast<T>(static_cast<unsigned>(x) << up);
  const long long high = (shifted * multiplier + (1LL << 30)) >> 31;
  const long long towards_zero = p[0] != 0 && down > 0 ? high >> 63 : 0;
  return static_cast<T>((high + ((1LL << down) >> 1) + towards_zero) >> down);
}

TIDEMARK_UNARY(exp, math::exp(x))
TIDEMARK_UNARY(expm1, math::expm1(x))
TIDEMARK_UNARY(log, math::log(x))
TIDEMARK_UNARY(log1p, math::log1p(x))
TIDEMARK_UNARY(erf, math::erf(x))
TIDEMARK_UNARY(erfc, math::erfc(x))
TIDEMARK_UNARY(erfinv, static_cast<T>(special_functions::inverse_erf(x)))
TIDEMARK_UNARY(ndtri, static_cast<T>(special_functions::normal_quantile(x)))
TIDEMARK_UNARY(lgamma, static_cast<T>(special_functions::log_gamma(x)))
TIDEMARK_UNARY(digamma, static_cast<T>(special_functions::digamma_of(x)))
TIDEMARK_UNARY(trigamma, static_cast<T>(special_functions::trigamma_of(x)))
TIDEMARK_UNARY(bessel_i0e, static_cast<T>(special_functions::scaled_bessel_i(0, math::fabs(x))))
TIDEMARK_UNARY(bessel_i1e,
               static_cast<T>(::copysign(special_functions::scaled_bessel_i(1, math::fabs(x)), x)))
TIDEMARK_BINARY(pow, power(x, y))
TIDEMARK_BINARY(xlogy, x* math::log(x == T(0) ? T(1) : y))
TIDEMARK_BINARY(xlog1py, x* math::log1p(x == T(0) ? T(0) : y))
TIDEMARK_UNARY(sin, math::sin(x))
TIDEMARK_UNARY(cos, math::cos(x))
TIDEMARK_UNARY(tan, math::tan(x))
TIDEMARK_UNARY(asin, math::asin(x))
TIDEMARK_UNARY(acos, math::acos(x))
TIDEMARK_UNARY(atan, math::atan(x))
TIDEMARK_UNARY(sinh, math::sinh(x))
TIDEMARK_UNARY(cosh, math::cosh(x))
TIDEMARK_UNARY(tanh, math::tanh(x))
TIDEMARK_UNARY(asinh, math::asinh(x))
TIDEMARK_UNARY(acosh, math::acosh(x))
TIDEMARK_UNARY(atanh, math::atanh(x))
TIDEMARK_BINARY(atan2, math::atan2(x, y))

TIDEMARK_UNARY(sigmoid, logistic(x))
TIDEMARK_UNARY(log_sigmoid, -soft_positive(-x))
TIDEMARK_UNARY(softplus, soft_positive(x))
TIDEMARK_UNARY(elu, positive_part(x) + math::expm1(negative_part(x)))
TIDEMARK_UNARY(selu, T(1.05070098735548049342) * positive_part(x) +
                         T(1.75809934084737685994) * math::expm1(negative_part(x)))
TIDEMARK_UNARY(swish, x* logistic(static_cast<T>(p[0]) * x))
TIDEMARK_UNARY(gelu, tm::gelu(x, p[0] != 0))
TIDEMARK_BINARY(gelu_grad, x* gelu_slope(y, p[0] != 0))

#undef TIDEMARK_UNARY
#undef TIDEMARK_BINARY

// --- Reductions: what is taken in, joined and made of it
// ------------------------------------------

template <bool is_signed>
struct Wide64 {
  typedef int64 Type;
};
template <>
struct Wide64<false> {
  typedef uint64 Type;
};
/// Floats add up in double precision.
template <class T>
struct SumOf {
  typedef T Type;
  typedef typename Wide64<(T(-1) < T(0))>::Type Wide;
};
template <>
struct SumOf<float> {
  typedef double Type;
};

template <class T>
struct Sum {
  typedef typename SumOf<T>::Type Acc;
  static Acc start() { return 0; }
  static Acc taken(T x) { return x; }
  static Acc join(Acc x, Acc y) { return static_cast<Acc>(Wrap<Acc>(x) + Wrap<Acc>(y)); }
  static T finish(Acc x, int64) { return static_cast<T>(x); }
};
template <class T>
struct Mean : Sum<T> {
  typedef typename SumOf<T>::Type Acc;
  static T finish(Acc x, int64 n) { return static_cast<T>(x / static_cast<double>(n)); }
};
/// Of integers: divided in 64 bits and cut off; that of none is 0.
template <class T>
struct WholeMean {
  typedef typename SumOf<T>::Wide Acc;
  static Acc start() { return 0; }
  static Acc taken(T x) { return static_cast<Acc>(x); }
  static Acc join(Acc x, Acc y) { return static_cast<Acc>(uint64(x) + uint64(y)); }
  static T finish(Acc x, int64 n) { return n ? static_cast<T>(x / static_cast<Acc>(n)) : T(0); }
};
template <class T>
struct Prod : Sum<T> {
  typedef typename SumOf<T>::Type Acc;
  static Acc start() { return 1; }
  static Acc join(Acc x, Acc y) { return static_cast<Acc>(Wrap<Acc>(x) * Wrap<Acc>(y)); }
};
template <class T>
struct Max {
  typedef T Acc;
  static T start() {
    if constexpr (Kind<T>::is_float) {
      return -static_cast<T>(from_bits(0x7f800000u));
    } else {
      return lowest();
    }
  }
  static T taken(T x) { return x; }
  static T lowest() { return T(-1) < T(0) ? T(uint64(1) << (sizeof(T) * 8 - 1)) : T(0); }
  static T join(T x, T y) { return larger(x, y); }
  static T finish(T x, int64) { return x; }
};
template <class T>
struct Min {
  typedef T Acc;
  static T start() {
    if constexpr (Kind<T>::is_float) {
      return static_cast<T>(from_bits(0x7f800000u));
    } else {
      return static_cast<T>(~Max<T>::lowest());
    }
  }
  static T taken(T x) { return x; }
  static T join(T x, T y) { return smaller(x, y); }
  static T finish(T x, int64) { return x; }
};

/// The root of the sum of squares.
template <class T>
struct Norm : Sum<double> {
  static double taken(T x) { return static_cast<double>(x) * static_cast<double>(x); }
  static T finish(double x, int64) { return static_cast<T>(math::sqrt(x)); }
};
/// log(sum(exp(x))): what is added up are multiples of exp(shift).
template <class T>
struct LogSumExp {
  struct Acc {
    double shift, sum;
  };
  static Acc start() { return {Max<double>::start(), 0}; }
  static Acc taken(T x) { return {static_cast<double>(x), 1}; }
  static Acc join(Acc x, Acc y) {
    const double shift = larger(x.shift, y.shift);
    return {shift, moved(x, shift) + moved(y, shift)};
  }
  static T finish(Acc x, int64) { return static_cast<T>(x.shift + math::log(x.sum)); }
  static double moved(Acc x, double shift) {
    return x.shift == shift || x.sum == 0 ? x.sum : x.sum * math::exp(x.shift - shift);
  }
};
/// Squares of distances from the mean, of each part and then of both.
template <class T>
struct Variance {
  struct Acc {
    double count, mean, squares;
  };
  static Acc start() { return {0, 0, 0}; }
  static Acc taken(T x) { return {1, static_cast<double>(x), x - x == 0 ? 0. : double(x - x)}; }
  static Acc join(Acc x, Acc y) {
    const double count = x.count + y.count;
    if (x.count == 0) return y;
    if (y.count == 0) return x;
    const double d = y.mean - x.mean, part = y.count / count;
    return {count, x.mean + d * part, x.squares + y.squares + d * d * x.count * part};
  }
  static T finish(Acc x, int64 n) { return static_cast<T>(x.squares / static_cast<double>(n)); }
};
template <class T>
struct Deviation : Variance<T> {
  typedef typename Variance<T>::Acc Acc;
  static T finish(Acc x, int64 n) {
    return static_cast<T>(math::sqrt(x.squares / static_cast<double>(n)));
  }
};

#ifdef __CUDA_ARCH__
/// What the thread so many lanes further has, of a warp that calls it together.
template <class Acc>
Acc of_lane_behind(const Acc& mine, unsigned int lanes) {
  constexpr int words = (sizeof(Acc) + 3) / 4;
  union Words {
    Acc whole;
    unsigned int word[words];
    Words() {}
  } both;
  both.whole = mine;
#pragma unroll
  for (int i = 0; i < words; ++i) {
    both.word[i] = __shfl_down_sync(0xffffffffu, both.word[i], lanes);
  }
  return both.whole;
}
#endif

/// What all threads of the block have taken in, joined in one order whatever their speed. Every
/// thread calls it and gets it; `lanes` has room for one a thread. Blocks are whole warps.
template <class R>
typename R::Acc joined(typename R::Acc mine, void* lanes) {
  typedef typename R::Acc Acc;
  Acc* all = static_cast<Acc*>(lanes);
#ifdef __CUDA_ARCH__
  const unsigned int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (unsigned int step = 16; step > 0; step /= 2) {
    const Acc other = of_lane_behind(mine, step);
    if (lane + step < 32) mine = R::join(mine, other);
  }
  if (lane == 0) all[warp] = mine;
  __syncthreads();
  if (warp == 0) {
    if (lane < warps) mine = all[lane];
    for (unsigned int step = 16; step > 0; step /= 2) {
      const Acc other = of_lane_behind(mine, step);
      if (lane + step < warps) mine = R::join(mine, other);
    }
    if (lane == 0) all[0] = mine;
  }
  __syncthreads();
  const Acc first = all[0];
  __syncthreads();
  return first;
#else
  all[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned int n = blockDim.x; n > 1;) {
    const unsigned int half = (n + 1) / 2;
    if (threadIdx.x + half < n) {
      all[threadIdx.x] = R::join(all[threadIdx.x], all[threadIdx.x + half]);
    }
    n = half;
    __syncthreads();
  }
  const Acc result = all[0];
  __syncthreads();
  return result;
#endif
}

}  // namespace tm
