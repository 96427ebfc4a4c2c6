// Sums, products and what is computed with them alone.

#include "tidemark/kernels/cpu/isa/loops.h"

namespace tidemark::cpu::TIDEMARK_ISA {

TIDEMARK_BINARY(add, Real, Wrap<T>(x) + Wrap<T>(y))
TIDEMARK_BINARY(subtract, Real, Wrap<T>(x) - Wrap<T>(y))
TIDEMARK_BINARY(multiply, Real, Wrap<T>(x) * Wrap<T>(y))
TIDEMARK_BINARY(truediv, Floats, x / y)
TIDEMARK_UNARY(negative, Real, is_float<T> ? -x : Wrap<T>(0) - Wrap<T>(x))
TIDEMARK_UNARY(square, Real, Wrap<T>(x) * Wrap<T>(x))

TIDEMARK_LOOPS(arithmetic, add_op, subtract_op, multiply_op, truediv_op, negative_op, square_op);

}  // namespace tidemark::cpu::TIDEMARK_ISA
