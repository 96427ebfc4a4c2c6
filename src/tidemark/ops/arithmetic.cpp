// Sums, products, quotients and what is made of them.

#include "tidemark/ops/gradients.h"

namespace tidemark {

TIDEMARK_OP(add)
    .doc("x + y, elementwise with broadcasting. Integers wrap around.")
    .python("tf.add", "tf.math.add")
    .input("x", kNumeric)
    .input("y", kNumeric)
    .output("z", like("x"))
    .elementwise()
    .gradient([](Grad& g) {
      g.dx(0) = g.unbroadcast(g.dy(), 0);
      g.dx(1) = g.unbroadcast(g.dy(), 1);
    });

TIDEMARK_OP(subtract)
    .doc("x - y, elementwise with broadcasting. Integers wrap around.")
    .python("tf.subtract", "tf.math.subtract")
    .input("x", kNumeric)
    .input("y", kNumeric)
    .output("z", like("x"))
    .elementwise()
    .gradient([](Grad& g) {
      g.dx(0) = g.unbroadcast(g.dy(), 0);
      g.dx(1) = g.unbroadcast(-g.dy(), 1);
    });

TIDEMARK_OP(multiply)
    .doc("x * y, elementwise with broadcasting. Integers wrap around.")
    .python("tf.multiply", "tf.math.multiply")
    .input("x", kNumeric)
    .input("y", kNumeric)
    .output("z", like("x"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          g.dx(0) = g.unbroadcast(g.dy() * conjugate(g.x(1)), 0);
          g.dx(1) = g.unbroadcast(g.dy() * conjugate(g.x(0)), 1);
        },
        keep_x(0, 1));

TIDEMARK_OP(truediv)
    .doc("x / y, elementwise with broadcasting, of floating-point and complex numbers.")
    .input("x", kInexact)
    .input("y", kInexact)
    .output("z", like("x"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor by_y = g.dy() / conjugate(g.x(1));
          g.dx(0) = g.unbroadcast(by_y, 0);
          g.dx(1) = g.unbroadcast(-(by_y * conjugate(g.y())), 1);
        },
        keep_x(1) | keep_y(0));

TIDEMARK_OP(negative)
    .doc("-x, elementwise. Integers wrap around.")
    .python("tf.negative", "tf.math.negative")
    .input("x", kNumeric)
    .output("y", like("x"))
    .elementwise()
    .gradient([](Grad& g) { g.dx(0) = -g.dy(); });

TIDEMARK_OP(square)
    .doc("x * x, elementwise. Integers wrap around.")
    .python("tf.square", "tf.math.square")
    .input("x", kNumeric)
    .output("y", like("x"))
    .elementwise()
    .gradient([](Grad& g) { g.dx(0) = g.dy() * conjugate(g.x(0)) * scalar_like(2, g.x(0)); },
              keep_x(0));

}  // namespace tidemark
