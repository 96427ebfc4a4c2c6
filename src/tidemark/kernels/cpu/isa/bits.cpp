// Bitwise ops of integers, and products with factors held in integers. A shift count outside the
// type's width counts as the nearest inside.

#include "tidemark/base/fixed_point.h"
#include "tidemark/kernels/cpu/isa/loops.h"

namespace tidemark::cpu::TIDEMARK_ISA {

template <class T>
[[gnu::always_inline]] inline int shift_count(T y) {
  constexpr T last = static_cast<T>(sizeof(T) * 8 - 1);
  return static_cast<int>(y < T(0) ? T(0) : y > last ? last : y);
}

TIDEMARK_BINARY(bitwise_and, Ints, x& y)
TIDEMARK_BINARY(bitwise_or, Ints, x | y)
TIDEMARK_BINARY(bitwise_xor, Ints, x ^ y)
TIDEMARK_BINARY(left_shift, Ints, Wrap<T>(x) << shift_count(y))
TIDEMARK_BINARY(right_shift, Ints, x >> shift_count(y))
TIDEMARK_UNARY(invert, Ints, ~x)

TIDEMARK_TERNARY(multiply_fixed_point, Types<int32_t>,
                 tidemark::multiply_fixed_point(x, y, z, p.values[0] != 0))

TIDEMARK_LOOPS(bits, bitwise_and_op, bitwise_or_op, bitwise_xor_op, left_shift_op, right_shift_op,
               invert_op, multiply_fixed_point_op);

}  // namespace tidemark::cpu::TIDEMARK_ISA
