// Functions of two numbers: angles and products with logarithms.

#include "tidemark/ops/gradients.h"

namespace tidemark {

namespace {

/// Where x is 0 the value is 0 whatever y is, and no gradient flows there.
Tensor where_used(const Tensor& x, const Tensor& slope) {
  return zero_unless(call("not_equal", {x, scalar_like(0, x)}), slope);
}

}  // namespace

TIDEMARK_OP(atan2)
    .doc("The angle in radians of the point (x, y), in all four quadrants.")
    .python("tf.atan2", "tf.math.atan2")
    .tensorflow("Atan2")
    .input("y", kFloats)
    .input("x", kFloats)
    .output("z", like("y"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor y = g.x(0), x = g.x(1);
          const Tensor by_radius = g.dy() / (x * x + y * y);
          g.dx(0) = g.unbroadcast(x * by_radius, 0);
          g.dx(1) = g.unbroadcast(-(y * by_radius), 1);
        },
        keep_x(0, 1));

TIDEMARK_OP(xlogy)
    .doc("x * log(y), but 0 where x is 0.")
    .python("tf.math.xlogy")
    .tensorflow("Xlogy")
    .input("x", kInexact)
    .input("y", kInexact)
    .output("z", like("x"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor x = conjugate(g.x(0)), y = conjugate(g.x(1));
          g.dx(0) = g.unbroadcast(g.dy() * where_used(x, call("log", {y})), 0);
          g.dx(1) = g.unbroadcast(g.dy() * call("xdivy", {x, y}), 1);
        },
        keep_x(0, 1));

TIDEMARK_OP(xlog1py)
    .doc("x * log(1 + y), but 0 where x is 0.")
    .python("tf.math.xlog1py")
    .tensorflow("Xlog1py")
    .input("x", kInexact)
    .input("y", kInexact)
    .output("z", like("x"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor x = conjugate(g.x(0)), y = conjugate(g.x(1));
          g.dx(0) = g.unbroadcast(g.dy() * where_used(x, call("log1p", {y})), 0);
          g.dx(1) = g.unbroadcast(g.dy() * call("xdivy", {x, y + scalar_like(1, y)}), 1);
        },
        keep_x(0, 1));

}  // namespace tidemark
