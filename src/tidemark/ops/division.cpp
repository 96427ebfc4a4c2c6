// Division with a whole quotient, remainders, powers.

#include "tidemark/ops/gradients.h"

namespace tidemark {

namespace {

/// Of x mod y = x - y * quotient, where the quotient is a step function.
void remainder_gradient(Grad& g, std::string_view division) {
  const Tensor quotient = call(division, {g.x(0), g.x(1)});
  g.dx(0) = g.unbroadcast(g.dy(), 0);
  g.dx(1) = g.unbroadcast(-(g.dy() * quotient), 1);
}

}  // namespace

TIDEMARK_OP(floordiv)
    .doc(
        "x / y rounded down. Integers: a zero divisor is an error; the lowest integer over -1 "
        "wraps around.")
    .python("tf.math.floordiv")
    .tensorflow("FloorDiv", {}, {}, "floordiv")
    .input("x", kReal)
    .input("y", kReal)
    .output("z", like("x"))
    .elementwise()
    .may_fail(kInts)
    .no_gradient();

TIDEMARK_OP(floormod)
    .doc("The remainder of floordiv: it has the sign of y.")
    .python("tf.math.floormod", "tf.math.mod")
    .tensorflow("FloorMod", {}, {}, "mod")
    .input("x", kReal)
    .input("y", kReal)
    .output("z", like("x"))
    .elementwise()
    .may_fail(kInts)
    .gradient([](Grad& g) { remainder_gradient(g, "floordiv"); }, keep_x(0, 1));

TIDEMARK_OP(truncatediv)
    .doc("x / y rounded towards 0, as C++ divides integers. A zero integer divisor is an error.")
    .python("tf.truncatediv")
    .tensorflow("TruncateDiv")
    .input("x", kReal)
    .input("y", kReal)
    .output("z", like("x"))
    .elementwise()
    .may_fail(kInts)
    .no_gradient();

TIDEMARK_OP(truncatemod)
    .doc("The remainder of truncatediv: it has the sign of x.")
    .python("tf.truncatemod")
    .tensorflow("TruncateMod")
    .input("x", kReal)
    .input("y", kReal)
    .output("z", like("x"))
    .elementwise()
    .may_fail(kInts)
    .gradient([](Grad& g) { remainder_gradient(g, "truncatediv"); }, keep_x(0, 1));

TIDEMARK_OP(pow)
    .doc(
        "x to the power of y, elementwise with broadcasting. Integers wrap around, and do not "
        "take negative powers.")
    .python("tf.pow", "tf.math.pow")
    .tensorflow("Pow", {}, {}, "pow")
    .onnx("Pow")
    .input("x", kNumeric)
    .input("y", kNumeric)
    .output("z", like("x"))
    .elementwise()
    .may_fail(kInts)
    .gradient(
        [](Grad& g) {
          const Tensor x = conjugate(g.x(0)), y = conjugate(g.x(1)), z = conjugate(g.y());
          const Tensor one = scalar_like(1, y);
          g.dx(0) = g.unbroadcast(g.dy() * (y * call("pow", {x, y - one})), 0);
          // z * log(x) has the limit 0 at x = 0; real powers of negative numbers have no slope.
          const Tensor usable = is_complex(x.dtype()) ? call("not_equal", {x, scalar_like(0, x)})
                                                      : call("greater", {x, scalar_like(0, x)});
          const Tensor log_x = call("log", {call("select", {usable, x, one})});
          g.dx(1) = g.unbroadcast(g.dy() * (z * log_x), 1);
        },
        keep_x(0, 1) | keep_y(0));

TIDEMARK_OP(nextafter)
    .doc("The number next to x1 in the direction of x2.")
    .python("tf.math.nextafter")
    .tensorflow("NextAfter")
    .input("x1", dtype_set(DType::float32, DType::float64))
    .input("x2", dtype_set(DType::float32, DType::float64))
    .output("y", like("x1"))
    .elementwise()
    .gradient([](Grad& g) {
      g.dx(0) = g.unbroadcast(g.dy(), 0);
      g.dx(1) = g.unbroadcast(g.dy() * scalar_like(0, g.dy()), 1);
    });

}  // namespace tidemark
