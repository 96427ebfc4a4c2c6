// Comparisons, tests and logic.

#include "tidemark/kernels/cpu/isa/loops.h"

namespace tidemark::cpu::TIDEMARK_ISA {

TIDEMARK_BINARY_TEST(equal, RealAndBool, x == y)
TIDEMARK_BINARY_TEST(not_equal, RealAndBool, x != y)
TIDEMARK_BINARY_TEST(less, Real, x < y)
TIDEMARK_BINARY_TEST(less_equal, Real, x <= y)
TIDEMARK_BINARY_TEST(greater, Real, x > y)
TIDEMARK_BINARY_TEST(greater_equal, Real, x >= y)
TIDEMARK_BINARY(logical_and, Bool, x& y)
TIDEMARK_BINARY(logical_or, Bool, x | y)
TIDEMARK_BINARY(logical_xor, Bool, x ^ y)
TIDEMARK_UNARY(logical_not, Bool, !x)

template <class T>
inline constexpr T infinite = T(__builtin_inff());
TIDEMARK_UNARY_TEST(is_nan, Floats, x != x)
TIDEMARK_UNARY_TEST(is_inf, Floats, x == infinite<T> || x == -infinite<T>)
TIDEMARK_UNARY_TEST(is_finite, Floats, x - x == T(0))

TIDEMARK_LOOPS(compare, equal_op, not_equal_op, less_op, less_equal_op, greater_op,
               greater_equal_op, logical_and_op, logical_or_op, logical_xor_op, logical_not_op,
               is_nan_op, is_inf_op, is_finite_op);

}  // namespace tidemark::cpu::TIDEMARK_ISA
