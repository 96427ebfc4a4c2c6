// Division, remainder and powers of integers: what can fail, and what no vector unit does.

#include <cmath>

#define TIDEMARK_ISA integer_loops  // ours alone, for every CPU
#include "tidemark/kernels/cpu/isa/loops.h"

namespace tidemark::cpu::TIDEMARK_ISA {

namespace {

/// The lowest number over -1 is out of range: it wraps around to itself.
template <class T>
T quotient(T x, T y) {
  if constexpr (is_signed_int<T>) {
    if (y == T(-1)) return static_cast<T>(Wrap<T>(0) - Wrap<T>(x));
  }
  return static_cast<T>(x / y);
}
template <class T>
T remainder_of(T x, T y) {
  if constexpr (is_signed_int<T>) {
    if (y == T(-1)) return 0;
  }
  return static_cast<T>(x % y);
}

struct TruncatedQuotient {
  template <class T>
  static T of(T x, T y) {
    return quotient(x, y);
  }
};
struct TruncatedRemainder {
  template <class T>
  static T of(T x, T y) {
    return remainder_of(x, y);
  }
};
struct FlooredQuotient {
  template <class T>
  static T of(T x, T y) {
    const T q = quotient(x, y);
    const bool inexact = remainder_of(x, y) != 0;
    return static_cast<T>(inexact && (x < T(0)) != (y < T(0)) ? q - 1 : q);
  }
};
struct FlooredRemainder {
  template <class T>
  static T of(T x, T y) {
    const T r = remainder_of(x, y);
    return static_cast<T>(r != 0 && (r < T(0)) != (y < T(0)) ? r + y : r);
  }
};

template <class Op, class T>
LoopStatus division_loop(void* out, const void* const* in, int64_t n, const LoopParams&) {
  const T* x = static_cast<const T*>(in[0]);
  const T* y = static_cast<const T*>(in[1]);
  T* z = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) {
    if (y[i] == 0) return LoopStatus::division_by_zero;
    z[i] = Op::of(x[i], y[i]);
  }
  return LoopStatus::ok;
}

template <class T>
T power(T x, T exponent) {
  Wrap<T> base = static_cast<Wrap<T>>(x), result = 1;
  for (auto e = static_cast<uint64_t>(exponent); e != 0; e >>= 1) {
    if (e & 1) result *= base;
    base *= base;
  }
  return static_cast<T>(result);
}

}  // namespace

#define TIDEMARK_DIVISION(op, kind)                                     \
  struct op##_op {                                                      \
    using Over = Ints;                                                  \
    static constexpr const char* name = #op;                            \
    static constexpr uint8_t arity = 2;                                 \
    static constexpr bool whole_vectors = false, heavy = true;          \
    template <class T>                                                  \
    static T of(T, T, LoopParams);                                      \
    template <class T>                                                  \
    static LoopStatus loop(void* out, const void* const* in, int64_t n, \
                           const LoopParams& params) {                  \
      return division_loop<kind, T>(out, in, n, params);                \
    }                                                                   \
  };
TIDEMARK_DIVISION(truncatediv, TruncatedQuotient)
TIDEMARK_DIVISION(truncatemod, TruncatedRemainder)
TIDEMARK_DIVISION(floordiv, FlooredQuotient)
TIDEMARK_DIVISION(floormod, FlooredRemainder)
#undef TIDEMARK_DIVISION

struct pow_op {
  using Over = Ints;
  static constexpr const char* name = "pow";
  static constexpr uint8_t arity = 2;
  static constexpr bool whole_vectors = false, heavy = true;
  template <class T>
  static T of(T, T, LoopParams);
  template <class T>
  static LoopStatus loop(void* out, const void* const* in, int64_t n, const LoopParams&) {
    const T* x = static_cast<const T*>(in[0]);
    const T* y = static_cast<const T*>(in[1]);
    T* z = static_cast<T*>(out);
    for (int64_t i = 0; i < n; ++i) {
      if (y[i] < T(0)) return LoopStatus::negative_power;
      z[i] = power(x[i], y[i]);
    }
    return LoopStatus::ok;
  }
};

TIDEMARK_LOOPS(loops, truncatediv_op, truncatemod_op, floordiv_op, floormod_op, pow_op);

}  // namespace tidemark::cpu::TIDEMARK_ISA
