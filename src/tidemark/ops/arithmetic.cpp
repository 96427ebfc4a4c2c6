// Sums, products, quotients and what is made of them.

#include <tidemark/rows.h>

#include "tidemark/ops/gradients.h"
#include "tidemark/ops/strings.h"

namespace tidemark {

TIDEMARK_OP(add)
    .doc("x + y, elementwise with broadcasting. Integers wrap around, strings are joined.")
    .python("tf.add", "tf.math.add")
    .tensorflow("AddV2", {}, {}, "add")
    .onnx("Add")
    .input("x", kNumeric | kString)
    .input("y", kNumeric | kString)
    .output("z", like("x"))
    .elementwise()
    .shape([](InferContext& c) {
      Shape shape = broadcast_shapes(c.shape(0), c.shape(1));
      if (c.dtype(0) == DType::string) {
        const int64_t count = shape.num_elements();
        c.set_string_bytes(0, characters(c.input(0), count) + characters(c.input(1), count));
      }
      c.set(0, std::move(shape));
    })
    .gradient([](Grad& g) {
      if (g.wants(0)) g.dx(0) = g.unbroadcast(g.dy(), 0);
      if (g.wants(1)) g.dx(1) = g.unbroadcast(g.dy(), 1);
    });

TIDEMARK_OP(subtract)
    .doc("x - y, elementwise with broadcasting. Integers wrap around.")
    .python("tf.subtract", "tf.math.subtract")
    .tensorflow("Sub", {}, {}, "sub")
    .onnx("Sub")
    .input("x", kNumeric)
    .input("y", kNumeric)
    .output("z", like("x"))
    .elementwise()
    .neutral(0, false)
    .gradient([](Grad& g) {
      if (g.wants(0)) g.dx(0) = g.unbroadcast(g.dy(), 0);
      if (g.wants(1)) g.dx(1) = g.unbroadcast(-g.dy(), 1);
    });

TIDEMARK_OP(multiply)
    .doc("x * y, elementwise with broadcasting. Integers wrap around.")
    .python("tf.multiply", "tf.math.multiply")
    .tensorflow("Mul", {}, {}, "mul")
    .onnx("Mul")
    .input("x", kNumeric)
    .input("y", kNumeric)
    .output("z", like("x"))
    .elementwise()
    .neutral(1, true)
    .gradient(
        [](Grad& g) {
          if (g.wants(0)) g.dx(0) = g.unbroadcast(g.dy() * conjugate(g.x(1)), 0);
          if (g.wants(1)) g.dx(1) = g.unbroadcast(g.dy() * conjugate(g.x(0)), 1);
        },
        keep_x(0, 1));

TIDEMARK_OP(truediv)
    .doc("x / y, elementwise with broadcasting, of floating-point and complex numbers.")
    .tensorflow("RealDiv", {}, {}, "truediv")
    .onnx("Div")
    .input("x", kInexact)
    .input("y", kInexact)
    .output("z", like("x"))
    .elementwise()
    .neutral(1, false)
    .gradient(
        [](Grad& g) {
          const Tensor by_y = g.dy() / conjugate(g.x(1));
          if (g.wants(0)) g.dx(0) = g.unbroadcast(by_y, 0);
          if (g.wants(1)) g.dx(1) = g.unbroadcast(-(by_y * conjugate(g.y())), 1);
        },
        keep_x(1) | keep_y(0));

TIDEMARK_OP(divide_no_nan)
    .doc("x / y, but 0 where y is 0.")
    .tensorflow("DivNoNan", {}, {}, "div_no_nan")
    .input("x", kInexact)
    .input("y", kInexact)
    .output("z", like("x"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor by_y = call("divide_no_nan", {g.dy(), conjugate(g.x(1))});
          g.dx(0) = g.unbroadcast(by_y, 0);
          g.dx(1) = g.unbroadcast(-(by_y * conjugate(g.y())), 1);
        },
        keep_x(1) | keep_y(0));

TIDEMARK_OP(multiply_no_nan)
    .doc("x * y, but 0 where y is 0, even if x is infinite or NaN.")
    .python("tf.math.multiply_no_nan")
    .tensorflow("MulNoNan", {}, {}, "multiply_no_nan")
    .input("x", kInexact)
    .input("y", kInexact)
    .output("z", like("x"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          g.dx(0) = g.unbroadcast(call("multiply_no_nan", {g.dy(), conjugate(g.x(1))}), 0);
          g.dx(1) = g.unbroadcast(call("multiply_no_nan", {conjugate(g.x(0)), g.dy()}), 1);
        },
        keep_x(0, 1));

TIDEMARK_OP(xdivy)
    .doc("x / y, but 0 where x is 0.")
    .python("tf.math.xdivy")
    .tensorflow("Xdivy")
    .input("x", kInexact)
    .input("y", kInexact)
    .output("z", like("x"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor x = g.x(0), y = conjugate(g.x(1));
          const Tensor used = call("not_equal", {x, scalar_like(0, x)});
          g.dx(0) = g.unbroadcast(zero_unless(used, g.dy() / y), 0);
          g.dx(1) = g.unbroadcast(zero_unless(used, -(g.dy() * conjugate(x) / (y * y))), 1);
        },
        keep_x(0, 1));

TIDEMARK_OP(negative)
    .doc("-x, elementwise. Integers wrap around.")
    .python("tf.negative", "tf.math.negative")
    .tensorflow("Neg")
    .onnx("Neg")
    .input("x", kNumeric)
    .output("y", like("x"))
    .elementwise()
    .gradient([](Grad& g) { g.dx(0) = -g.dy(); });

TIDEMARK_OP(square)
    .doc("x * x, elementwise. Integers wrap around.")
    .python("tf.square", "tf.math.square")
    .tensorflow("Square")
    .input("x", kNumeric)
    .output("y", like("x"))
    .elementwise()
    .gradient([](Grad& g) { g.dx(0) = g.dy() * (conjugate(g.x(0)) * scalar_like(2, g.x(0))); },
              keep_x(0));

TIDEMARK_OP(squared_difference)
    .doc("(x - y) * conj(x - y), elementwise with broadcasting.")
    .python("tf.math.squared_difference")
    .tensorflow("SquaredDifference")
    .input("x", kNumeric)
    .input("y", kNumeric)
    .output("z", like("x"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor dx = g.dy() * ((g.x(0) - g.x(1)) * scalar_like(2, g.x(0)));
          g.dx(0) = g.unbroadcast(dx, 0);
          g.dx(1) = g.unbroadcast(-dx, 1);
        },
        keep_x(0, 1));

TIDEMARK_OP(maximum)
    .doc("The larger of x and y, elementwise with broadcasting; NaN where either is NaN.")
    .python("tf.maximum", "tf.math.maximum")
    .tensorflow("Maximum")
    .onnx("Max")
    .input("x", kReal)
    .input("y", kReal)
    .output("z", like("x"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor first = call("greater_equal", {g.x(0), g.x(1)});
          g.dx(0) = g.unbroadcast(zero_unless(first, g.dy()), 0);
          g.dx(1) = g.unbroadcast(zero_if(first, g.dy()), 1);
        },
        keep_x(0, 1));

TIDEMARK_OP(minimum)
    .doc("The smaller of x and y, elementwise with broadcasting; NaN where either is NaN.")
    .python("tf.minimum", "tf.math.minimum")
    .tensorflow("Minimum")
    .onnx("Min")
    .input("x", kReal)
    .input("y", kReal)
    .output("z", like("x"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor first = call("less_equal", {g.x(0), g.x(1)});
          g.dx(0) = g.unbroadcast(zero_unless(first, g.dy()), 0);
          g.dx(1) = g.unbroadcast(zero_if(first, g.dy()), 1);
        },
        keep_x(0, 1));

TIDEMARK_OP(clip_by_value)
    .doc("t held between two limits, which broadcast: the upper one is applied first.")
    .python("tf.clip_by_value")
    .tensorflow("ClipByValue", {}, {}, "clip_by_value")
    .onnx("Clip")
    .input("t", kReal)
    .input("clip_value_min", kReal)
    .input("clip_value_max", kReal)
    .output("z", like("t"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor below = call("less", {g.x(0), g.x(1)});
          const Tensor above = call("greater", {g.x(0), g.x(2)});
          const Tensor outside = call("logical_or", {below, above});
          g.dx(0) = g.unbroadcast(zero_if(outside, g.dy()), 0);
          g.dx(1) = g.unbroadcast(zero_unless(below, g.dy()), 1);
          g.dx(2) = g.unbroadcast(zero_unless(above, g.dy()), 2);
        },
        keep_x(0, 1, 2));

TIDEMARK_OP(abs)
    .doc("The magnitude of x; a real number also where x is complex.")
    .python("tf.abs", "tf.math.abs")
    .tensorflow("Abs")
    .onnx("Abs")
    .input("x", kNumeric)
    .output("y", real_of("x"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor direction = call("sign", {g.x(0)});
          g.dx(0) = cast_to(g.dy(), direction.dtype()) * direction;
        },
        keep_x(0));

TIDEMARK_OP(sign)
    .doc("-1, 0 or 1 by the sign of x; x / |x| where x is complex; NaN stays NaN.")
    .python("tf.sign", "tf.math.sign")
    .tensorflow("Sign")
    .onnx("Sign")
    .input("x", kNumeric)
    .output("y", like("x"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor x = g.x(0), dy = g.dy();
          if (!is_complex(x.dtype())) {
            g.dx(0) = dy * scalar_like(0, dy);
            return;
          }
          // What turns the number, not what makes it longer: half of dy less its mirror image.
          const Tensor y = call("sign", {x});
          const Tensor turned = dy - y * y * call("conj", {dy});
          const Tensor length = cast_to(call("abs", {x}), x.dtype());
          g.dx(0) = call("divide_no_nan", {turned, length * scalar_like(2, x)});
        },
        keep_x(0));

TIDEMARK_OP(add_n)
    .doc("The sum of all inputs, which have one shape.")
    .python("tf.add_n", "tf.math.add_n")
    .tensorflow("AddN")
    .onnx("Sum")
    .input_list("inputs", kNumeric)
    .output("sum", like("inputs"))
    .shape([](InferContext& c) {
      for (int i = 1; i < c.num_inputs(); ++i) {
        if (c.shape(i) == c.shape(0) || !c.shape(i).is_fully_known()) continue;
        c.fail("Inputs must have the same shape; input 0 has ", c.shape(0), ", input ", i, " has ",
               c.shape(i));
      }
      c.set(0, c.shape(0));
    })
    .in_place(0)
    .rows(rows::every_input)
    .gradient([](Grad& g) {
      for (int i = 0; i < g.num_inputs(); ++i) g.dx(i) = g.dy();
    });

}  // namespace tidemark
