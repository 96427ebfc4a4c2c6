// Comparisons, tests, logic and bits: results that have no slope.

#include <tidemark/op.h>

namespace tidemark {

#define TIDEMARK_COMPARISON(op, dtypes, text) \
  TIDEMARK_OP(op)                             \
      .doc(text)                              \
      .python("tf." #op, "tf.math." #op)      \
      .input("x", dtypes)                     \
      .input("y", dtypes)                     \
      .output("z", always(DType::bool_))      \
      .elementwise()                          \
      .no_gradient()

TIDEMARK_COMPARISON(equal, kAny, "True where x equals y. NaN equals nothing.");
TIDEMARK_COMPARISON(not_equal, kAny, "True where x differs from y. NaN differs from everything.");
TIDEMARK_COMPARISON(less, kReal, "True where x is less than y.");
TIDEMARK_COMPARISON(less_equal, kReal, "True where x is less than or equal to y.");
TIDEMARK_COMPARISON(greater, kReal, "True where x is greater than y.");
TIDEMARK_COMPARISON(greater_equal, kReal, "True where x is greater than or equal to y.");
TIDEMARK_COMPARISON(logical_and, kBool, "True where both x and y are.");
TIDEMARK_COMPARISON(logical_or, kBool, "True where x or y is.");
#undef TIDEMARK_COMPARISON

TIDEMARK_OP(logical_xor)
    .doc("True where exactly one of x and y is.")
    .python("tf.math.logical_xor")
    .input("x", kBool)
    .input("y", kBool)
    .output("z", always(DType::bool_))
    .elementwise()
    .no_gradient();

TIDEMARK_OP(logical_not)
    .doc("True where x is false.")
    .python("tf.logical_not", "tf.math.logical_not")
    .input("x", kBool)
    .output("y", always(DType::bool_))
    .elementwise()
    .no_gradient();

#define TIDEMARK_TEST_OF_FLOAT(op, text) \
  TIDEMARK_OP(op)                        \
      .doc(text)                         \
      .python("tf.math." #op)            \
      .input("x", kFloats)               \
      .output("y", always(DType::bool_)) \
      .elementwise()                     \
      .no_gradient()

TIDEMARK_TEST_OF_FLOAT(is_nan, "True where x is NaN.");
TIDEMARK_TEST_OF_FLOAT(is_inf, "True where x is infinite.");
TIDEMARK_TEST_OF_FLOAT(is_finite, "True where x is neither infinite nor NaN.");
#undef TIDEMARK_TEST_OF_FLOAT

#define TIDEMARK_BITWISE(op, text) \
  TIDEMARK_OP(op)                  \
      .doc(text)                   \
      .python("tf.bitwise." #op)   \
      .input("x", kInts)           \
      .input("y", kInts)           \
      .output("z", like("x"))      \
      .elementwise()               \
      .no_gradient()

TIDEMARK_BITWISE(bitwise_and, "Bits set in both x and y.");
TIDEMARK_BITWISE(bitwise_or, "Bits set in x or y.");
TIDEMARK_BITWISE(bitwise_xor, "Bits set in exactly one of x and y.");
TIDEMARK_BITWISE(left_shift,
                 "x shifted up by y bits; counts outside 0 to width - 1 are held at those limits.");
TIDEMARK_BITWISE(right_shift,
                 "x shifted down by y bits, keeping the sign; counts outside 0 to width - 1 are "
                 "held at those limits.");
#undef TIDEMARK_BITWISE

TIDEMARK_OP(invert)
    .doc("Every bit of x flipped.")
    .python("tf.bitwise.invert")
    .input("x", kInts)
    .output("y", like("x"))
    .elementwise()
    .no_gradient();

}  // namespace tidemark
