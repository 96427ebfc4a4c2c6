// Circular and hyperbolic functions and their inverses.

#include "tidemark/kernels/cpu/isa/loops.h"
#include "tidemark/kernels/cpu/isa/vector_math.h"

namespace tidemark::cpu::TIDEMARK_ISA {

TIDEMARK_UNARY_MATH(sin, math::sin(x))
TIDEMARK_UNARY_MATH(cos, math::cos(x))
TIDEMARK_UNARY_MATH(tan, math::tan(x))
TIDEMARK_UNARY_MATH(asin, math::asin(x))
TIDEMARK_UNARY_MATH(acos, math::acos(x))
TIDEMARK_UNARY_MATH(atan, math::atan(x))
TIDEMARK_UNARY_MATH(sinh, math::sinh(x))
TIDEMARK_UNARY_MATH(cosh, math::cosh(x))
TIDEMARK_UNARY_MATH(tanh, math::tanh(x))
TIDEMARK_UNARY_MATH(asinh, math::asinh(x))
TIDEMARK_UNARY_MATH(acosh, math::acosh(x))
TIDEMARK_UNARY_MATH(atanh, math::atanh(x))
TIDEMARK_BINARY_MATH(atan2, math::atan2(x, y))

TIDEMARK_LOOPS(trigonometry, sin_op, cos_op, tan_op, asin_op, acos_op, atan_op, sinh_op, cosh_op,
               tanh_op, asinh_op, acosh_op, atanh_op, atan2_op);

}  // namespace tidemark::cpu::TIDEMARK_ISA
