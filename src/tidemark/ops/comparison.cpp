// Comparisons, tests, logic and bits: results that have no slope.

#include <tidemark/op.h>

namespace tidemark {

#define TIDEMARK_COMPARISON(op, tensorflow_op, dtypes, text) \
  TIDEMARK_OP(op)                                            \
      .doc(text)                                             \
      .python("tf." #op, "tf.math." #op)                     \
      .tensorflow(tensorflow_op)                             \
      .input("x", dtypes)                                    \
      .input("y", dtypes)                                    \
      .output("z", always(DType::bool_))                     \
      .elementwise()                                         \
      .no_gradient()

TIDEMARK_COMPARISON(equal, "Equal", kAny, "True where x equals y. NaN equals nothing.")
    .onnx("Equal");
TIDEMARK_COMPARISON(not_equal, "NotEqual", kAny,
                    "True where x differs from y. NaN differs from everything.");
TIDEMARK_COMPARISON(less, "Less", kReal, "True where x is less than y.").onnx("Less");
TIDEMARK_COMPARISON(less_equal, "LessEqual", kReal, "True where x is less than or equal to y.")
    .onnx("LessOrEqual");
TIDEMARK_COMPARISON(greater, "Greater", kReal, "True where x is greater than y.").onnx("Greater");
TIDEMARK_COMPARISON(greater_equal, "GreaterEqual", kReal,
                    "True where x is greater than or equal to y.")
    .onnx("GreaterOrEqual");
TIDEMARK_COMPARISON(logical_and, "LogicalAnd", kBool, "True where both x and y are.").onnx("And");
TIDEMARK_COMPARISON(logical_or, "LogicalOr", kBool, "True where x or y is.").onnx("Or");
#undef TIDEMARK_COMPARISON

TIDEMARK_OP(logical_xor)
    .doc("True where exactly one of x and y is.")
    .python("tf.math.logical_xor")
    .onnx("Xor")
    .input("x", kBool)
    .input("y", kBool)
    .output("z", always(DType::bool_))
    .elementwise()
    .no_gradient();

TIDEMARK_OP(logical_not)
    .doc("True where x is false.")
    .python("tf.logical_not", "tf.math.logical_not")
    .tensorflow("LogicalNot")
    .onnx("Not")
    .input("x", kBool)
    .output("y", always(DType::bool_))
    .elementwise()
    .no_gradient();

#define TIDEMARK_TEST_OF_FLOAT(op, tensorflow_op, text) \
  TIDEMARK_OP(op)                                       \
      .doc(text)                                        \
      .python("tf.math." #op)                           \
      .tensorflow(tensorflow_op)                        \
      .input("x", kFloats)                              \
      .output("y", always(DType::bool_))                \
      .elementwise()                                    \
      .no_gradient()

TIDEMARK_TEST_OF_FLOAT(is_nan, "IsNan", "True where x is NaN.").onnx("IsNaN");
TIDEMARK_TEST_OF_FLOAT(is_inf, "IsInf", "True where x is infinite.").onnx("IsInf");
TIDEMARK_TEST_OF_FLOAT(is_finite, "IsFinite", "True where x is neither infinite nor NaN.");
#undef TIDEMARK_TEST_OF_FLOAT

#define TIDEMARK_BITWISE(op, tensorflow_op, text) \
  TIDEMARK_OP(op)                                 \
      .doc(text)                                  \
      .python("tf.bitwise." #op)                  \
      .tensorflow(tensorflow_op)                  \
      .input("x", kInts)                          \
      .input("y", kInts)                          \
      .output("z", like("x"))                     \
      .elementwise()                              \
      .no_gradient()

TIDEMARK_BITWISE(bitwise_and, "BitwiseAnd", "Bits set in both x and y.").onnx("BitwiseAnd");
TIDEMARK_BITWISE(bitwise_or, "BitwiseOr", "Bits set in x or y.").onnx("BitwiseOr");
TIDEMARK_BITWISE(bitwise_xor, "BitwiseXor", "Bits set in exactly one of x and y.")
    .onnx("BitwiseXor");
TIDEMARK_BITWISE(left_shift, "LeftShift",
                 "x shifted up by y bits; counts outside 0 to width - 1 are held at those limits.");
TIDEMARK_BITWISE(right_shift, "RightShift",
                 "x shifted down by y bits, keeping the sign; counts outside 0 to width - 1 are "
                 "held at those limits.");
#undef TIDEMARK_BITWISE

TIDEMARK_OP(invert)
    .doc("Every bit of x flipped.")
    .python("tf.bitwise.invert")
    .tensorflow("Invert")
    .onnx("BitwiseNot")
    .input("x", kInts)
    .output("y", like("x"))
    .elementwise()
    .no_gradient();

TIDEMARK_OP(multiply_fixed_point)
    .doc(
        "x times multiplier / 2^31 * 2^shift in integers: the upper half of twice the product, "
        "rounded, then shifted down by -shift bits and rounded again. Halves of the shift go up, "
        "or away from 0. What does not fit into 32 bits wraps around.")
    .input("x", dtype_set(DType::int32))
    .input("multiplier", dtype_set(DType::int32))
    .input("shift", dtype_set(DType::int32))
    .attr("halves_away", AttrKind::boolean, false)
    .output("y", always(DType::int32))
    .elementwise()
    .no_gradient();

}  // namespace tidemark
