// Loops over complex numbers: plain code for every CPU.

#include <complex>

#define TIDEMARK_ISA common
#include "tidemark/kernels/cpu/isa/loops.h"

namespace tidemark::cpu::TIDEMARK_ISA {

using Complex = Types<std::complex<float>, std::complex<double>>;

TIDEMARK_BINARY(add, Complex, x + y)
TIDEMARK_BINARY(subtract, Complex, x - y)
TIDEMARK_BINARY(multiply, Complex, x* y)
TIDEMARK_BINARY(truediv, Complex, x / y)
TIDEMARK_UNARY(negative, Complex, -x)
TIDEMARK_UNARY(square, Complex, x* x)

TIDEMARK_LOOPS(complex_numbers, add_op, subtract_op, multiply_op, truediv_op, negative_op,
               square_op);

}  // namespace tidemark::cpu::TIDEMARK_ISA
