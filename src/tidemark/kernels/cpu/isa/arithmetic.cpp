// Sums, products, maxima and what is computed with them alone. Each rounds once at most, so whole
// vectors and single elements agree to the bit.

#include "tidemark/kernels/cpu/isa/loops.h"

namespace tidemark::cpu::TIDEMARK_ISA {

TIDEMARK_BINARY(add, Real, Wrap<T>(x) + Wrap<T>(y))
TIDEMARK_BINARY(subtract, Real, Wrap<T>(x) - Wrap<T>(y))
TIDEMARK_BINARY(multiply, Real, Wrap<T>(x) * Wrap<T>(y))
TIDEMARK_BINARY(truediv, Floats, x / y)
TIDEMARK_UNARY(negative, Real, is_float<T> ? -x : Wrap<T>(0) - Wrap<T>(x))
TIDEMARK_UNARY(square, Real, Wrap<T>(x) * Wrap<T>(x))

template <class T>
[[gnu::always_inline]] inline T squared(T x) {
  return static_cast<T>(Wrap<T>(x) * Wrap<T>(x));
}
TIDEMARK_BINARY(squared_difference, Real, squared(static_cast<T>(Wrap<T>(x) - Wrap<T>(y))))

// NaN on either side comes through.
template <class T>
[[gnu::always_inline]] inline T larger(T x, T y) {
  return x > y || x != x ? x : y;
}
template <class T>
[[gnu::always_inline]] inline T smaller(T x, T y) {
  return x < y || x != x ? x : y;
}
TIDEMARK_BINARY(maximum, Real, larger(x, y))
TIDEMARK_BINARY(minimum, Real, smaller(x, y))
TIDEMARK_TERNARY(clip_by_value, Real, larger(smaller(x, z), y))

TIDEMARK_UNARY(relu, Real, x < T(0) ? T(0) : x)
TIDEMARK_BINARY(relu_grad, Real, y > T(0) ? x : T(0))
TIDEMARK_UNARY(relu6, Real, x<T(0) ? T(0) : x> T(6) ? T(6) : x)

TIDEMARK_LOOPS(arithmetic, add_op, subtract_op, multiply_op, truediv_op, negative_op, square_op,
               squared_difference_op, maximum_op, minimum_op, clip_by_value_op, relu_op,
               relu_grad_op, relu6_op);

}  // namespace tidemark::cpu::TIDEMARK_ISA
