// Exponentials, logarithms, powers and the error function.

#include "tidemark/kernels/cpu/isa/loops.h"
#include "tidemark/kernels/cpu/isa/vector_math.h"

namespace tidemark::cpu::TIDEMARK_ISA {

TIDEMARK_UNARY_MATH(exp, math::exp(x))
TIDEMARK_UNARY_MATH(expm1, math::expm1(x))
TIDEMARK_UNARY_MATH(log, math::log(x))
TIDEMARK_UNARY_MATH(log1p, math::log1p(x))
TIDEMARK_UNARY_MATH(erf, math::erf(x))
TIDEMARK_UNARY_MATH(erfc, math::erfc(x))
TIDEMARK_BINARY_MATH(pow, math::pow(x, y))
TIDEMARK_BINARY_MATH(xlogy, x* math::log(x == T(0) ? T(1) : y))
TIDEMARK_BINARY_MATH(xlog1py, x* math::log1p(x == T(0) ? T(0) : y))

TIDEMARK_LOOPS(exponential, exp_op, expm1_op, log_op, log1p_op, erf_op, erfc_op, pow_op, xlogy_op,
               xlog1py_op);

}  // namespace tidemark::cpu::TIDEMARK_ISA
