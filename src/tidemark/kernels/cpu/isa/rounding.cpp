// Magnitude, sign, rounding, roots, quotients that avoid NaN: exact but for one rounding.

#include "tidemark/kernels/cpu/isa/loops.h"

namespace tidemark::cpu::TIDEMARK_ISA {

[[gnu::always_inline]] inline float root(float x) { return __builtin_sqrtf(x); }
[[gnu::always_inline]] inline double root(double x) { return __builtin_sqrt(x); }
[[gnu::always_inline]] inline float down(float x) { return __builtin_floorf(x); }
[[gnu::always_inline]] inline double down(double x) { return __builtin_floor(x); }
[[gnu::always_inline]] inline float up(float x) { return __builtin_ceilf(x); }
[[gnu::always_inline]] inline double up(double x) { return __builtin_ceil(x); }
[[gnu::always_inline]] inline float cut(float x) { return __builtin_truncf(x); }
[[gnu::always_inline]] inline double cut(double x) { return __builtin_trunc(x); }
[[gnu::always_inline]] inline float to_even(float x) { return __builtin_rintf(x); }
[[gnu::always_inline]] inline double to_even(double x) { return __builtin_rint(x); }
template <class T>
[[gnu::always_inline]] inline T to_even(T x) {
  return x;
}
[[gnu::always_inline]] inline float magnitude(float x) { return __builtin_fabsf(x); }
[[gnu::always_inline]] inline double magnitude(double x) { return __builtin_fabs(x); }
template <class T>
[[gnu::always_inline]] inline T magnitude(T x) {
  return static_cast<T>(x < T(0) ? Wrap<T>(0) - Wrap<T>(x) : Wrap<T>(x));
}

TIDEMARK_UNARY(abs, Real, magnitude(x))
TIDEMARK_UNARY(sign, Real, x != x ? x : static_cast<T>((x > T(0)) - (x < T(0))))
TIDEMARK_UNARY(floor, Floats, down(x))
TIDEMARK_UNARY(ceil, Floats, up(x))
TIDEMARK_UNARY(round, Real, to_even(x))
TIDEMARK_UNARY(rint, Floats, to_even(x))
TIDEMARK_UNARY(sqrt, Floats, root(x))
TIDEMARK_UNARY(rsqrt, Floats, T(1) / root(x))
TIDEMARK_UNARY(reciprocal, Floats, T(1) / x)
TIDEMARK_UNARY(softsign, Floats, x / (T(1) + magnitude(x)))
TIDEMARK_UNARY(leaky_relu, Floats, x > T(0) ? x : x * static_cast<T>(p.values[0]))
TIDEMARK_BINARY(floordiv, Floats, down(x / y))
TIDEMARK_BINARY(truncatediv, Floats, cut(x / y))
TIDEMARK_BINARY(divide_no_nan, Floats, (y == T(0) ? T(0) : x) / (y == T(0) ? T(1) : y))
TIDEMARK_BINARY(multiply_no_nan, Floats, (y == T(0) ? T(0) : x) * y)
TIDEMARK_BINARY(xdivy, Floats, x / (x == T(0) ? T(1) : y))

TIDEMARK_LOOPS(rounding, abs_op, sign_op, floor_op, ceil_op, round_op, rint_op, sqrt_op, rsqrt_op,
               reciprocal_op, softsign_op, leaky_relu_op, floordiv_op, truncatediv_op,
               divide_no_nan_op, multiply_no_nan_op, xdivy_op);

}  // namespace tidemark::cpu::TIDEMARK_ISA
