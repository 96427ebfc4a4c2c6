// Activation functions of neural networks.

#include "tidemark/ops/gradients.h"

namespace tidemark {

namespace {

Tensor is_positive(const Tensor& t) { return call("greater", {t, scalar_like(0, t)}); }
Tensor one_like(const Tensor& t) { return scalar_like(1, t); }

/// The second derivative of gelu, by whichever form of it was taken.
Tensor gelu_curvature(const Tensor& x, bool approximate) {
  const Tensor half = scalar_like(0.5, x), one = one_like(x), square = call("square", {x});
  if (!approximate) {
    const Tensor bell = call("exp", {square * scalar_like(-0.5, x)});
    return scalar_like(0.39894228040143267794, x) * bell * (scalar_like(2, x) - square);
  }
  const Tensor root = scalar_like(0.79788456080286535588, x);
  const Tensor t = call("tanh", {root * x * (one + scalar_like(0.044715, x) * square)});
  const Tensor slope = root * (one + scalar_like(0.134145, x) * square);  // of tanh's argument
  const Tensor bend = root * scalar_like(0.26829, x) * x;
  return (one - call("square", {t})) * (slope - x * t * call("square", {slope}) + half * x * bend);
}

}  // namespace

TIDEMARK_OP(relu)
    .doc("features where positive, else 0.")
    .python("tf.nn.relu")
    .tensorflow("Relu")
    .onnx("Relu")
    .input("features", kReal)
    .output("activations", like("features"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          g.dx(0) = call("relu_grad", {g.take_dy(), g.y()});
        },
        keep_y(0));

TIDEMARK_OP(relu_grad)
    .doc("dy where the activations are positive, else 0.")
    .tensorflow("ReluGrad")
    .input("dy", kReal)
    .input("activations", kReal)
    .output("dx", like("dy"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          g.dx(0) = g.unbroadcast(call("relu_grad", {g.take_dy(), g.x(1)}), 0);
        },
        keep_x(1));

TIDEMARK_OP(relu6)
    .doc("features held between 0 and 6.")
    .python("tf.nn.relu6")
    .tensorflow("Relu6")
    .input("features", kReal)
    .output("activations", like("features"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor below = call("less", {g.y(), scalar_like(6, g.y())});
          g.dx(0) = zero_unless(call("logical_and", {is_positive(g.y()), below}), g.dy());
        },
        keep_y(0));

TIDEMARK_OP(leaky_relu)
    .doc("features where positive, else alpha * features.")
    .python("tf.nn.leaky_relu")
    .tensorflow("LeakyRelu", {}, "alpha")
    .onnx("LeakyRelu", {}, "alpha")
    .input("features", kFloats)
    .attr("alpha", AttrKind::real, 0.2)
    .output("activations", like("features"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor alpha = scalar_like(g.attr("alpha").as_real(), g.dy());
          g.dx(0) = call("select", {is_positive(g.x(0)), g.dy(), g.dy() * alpha});
        },
        keep_x(0));

TIDEMARK_OP(elu)
    .doc("features where positive, else exp(features) - 1.")
    .python("tf.nn.elu")
    .tensorflow("Elu")
    .onnx("Elu")
    .input("features", kFloats)
    .output("activations", like("features"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor y = g.y();
          g.dx(0) = call("select", {is_positive(y), g.dy(), g.dy() * (y + one_like(y))});
        },
        keep_y(0));

TIDEMARK_OP(selu)
    .doc("elu scaled so that activations keep mean 0 and variance 1.")
    .python("tf.nn.selu")
    .tensorflow("Selu")
    .onnx("Selu")
    .input("features", kFloats)
    .output("activations", like("features"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor y = g.y();
          const Tensor above = g.dy() * scalar_like(1.05070098735548049342, y);
          const Tensor below = g.dy() * (y + scalar_like(1.75809934084737685994, y));
          g.dx(0) = call("select", {is_positive(y), above, below});
        },
        keep_y(0));

TIDEMARK_OP(gelu)
    .doc(
        "features times the normal distribution function of features; `approximate` takes its "
        "form with tanh.")
    .python("tf.nn.gelu")
    .input("features", kFloats)
    .attr("approximate", AttrKind::boolean, false)
    .output("activations", like("features"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          g.dx(0) =
              call("gelu_grad", {g.take_dy(), g.x(0)}, {{"approximate", g.attr("approximate")}});
        },
        keep_x(0));

TIDEMARK_OP(gelu_grad)
    .doc("dy times the slope of gelu at features.")
    .input("dy", kFloats)
    .input("features", kFloats)
    .attr("approximate", AttrKind::boolean, false)
    .output("dx", like("dy"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Attr& approximate = g.attr("approximate");
          if (g.wants(1)) {
            const Tensor bent = g.x(0) * gelu_curvature(g.x(1), approximate.as_bool());
            g.dx(1) = g.unbroadcast(g.dy() * bent, 1);
          }
          const Tensor slope = call("gelu_grad", {g.dy(), g.x(1)}, {{"approximate", approximate}});
          g.dx(0) = g.unbroadcast(slope, 0);
        },
        keep_x(0, 1));

TIDEMARK_OP(swish)
    .doc("features * sigmoid(beta * features).")
    .python("tf.nn.swish", "tf.nn.silu")
    .input("features", kFloats)
    .attr("beta", AttrKind::real, 1.0)
    .output("activations", like("features"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor scaled = g.x(0) * scalar_like(g.attr("beta").as_real(), g.x(0));
          const Tensor s = call("sigmoid", {scaled});
          g.dx(0) = g.dy() * (s * (one_like(s) + scaled * (one_like(s) - s)));
        },
        keep_x(0));

TIDEMARK_OP(softplus)
    .doc("log(1 + exp(features)), without overflow.")
    .python("tf.nn.softplus", "tf.math.softplus")
    .tensorflow("Softplus")
    .onnx("Softplus")
    .input("features", kFloats)
    .output("activations", like("features"))
    .elementwise()
    .gradient([](Grad& g) { g.dx(0) = g.dy() * call("sigmoid", {g.x(0)}); }, keep_x(0));

TIDEMARK_OP(softsign)
    .doc("features / (1 + |features|).")
    .python("tf.nn.softsign", "tf.math.softsign")
    .tensorflow("Softsign")
    .onnx("Softsign")
    .input("features", kFloats)
    .output("activations", like("features"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor below = one_like(g.x(0)) + call("abs", {g.x(0)});
          g.dx(0) = g.dy() / call("square", {below});
        },
        keep_x(0));

}  // namespace tidemark
