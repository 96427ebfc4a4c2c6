// Functions of one number: roots, rounding, exponentials, circular and hyperbolic functions.
// In their gradients x and y stand for the conjugates: a real function's are itself.

#include "tidemark/ops/gradients.h"

namespace tidemark {

namespace {

Tensor one_like(const Tensor& t) { return scalar_like(1, t); }
Tensor square(const Tensor& t) { return call("square", {t}); }

/// dx = dy * slope.
void flow(Grad& g, const Tensor& slope) { g.dx(0) = g.dy() * slope; }

}  // namespace

#define TIDEMARK_FUNCTION(op, tensorflow_op, dtypes, text, ...) \
  TIDEMARK_OP(op)                                               \
      .doc(text)                                                \
      .python(__VA_ARGS__)                                      \
      .tensorflow(tensorflow_op)                                \
      .input("x", dtypes)                                       \
      .output("y", like("x"))                                   \
      .elementwise()
#define TIDEMARK_TF(op) "tf." #op, "tf.math." #op
#define TIDEMARK_TF_MATH(op) "tf.math." #op
#define TIDEMARK_SLOPE_X(...)               \
  .gradient(                                \
      [](Grad& g) {                         \
        const Tensor x = conjugate(g.x(0)); \
        flow(g, __VA_ARGS__);               \
      },                                    \
      keep_x(0))
#define TIDEMARK_SLOPE_Y(...)              \
  .gradient(                               \
      [](Grad& g) {                        \
        const Tensor y = conjugate(g.y()); \
        flow(g, __VA_ARGS__);              \
      },                                   \
      keep_y(0))

TIDEMARK_FUNCTION(sqrt, "Sqrt", kInexact, "The square root.", TIDEMARK_TF(sqrt))
    .onnx("Sqrt") TIDEMARK_SLOPE_Y(scalar_like(0.5, y) / y);
TIDEMARK_FUNCTION(rsqrt, "Rsqrt", kInexact, "1 / sqrt(x).", TIDEMARK_TF_MATH(rsqrt))
TIDEMARK_SLOPE_Y(scalar_like(-0.5, y) * (y * square(y)));
TIDEMARK_FUNCTION(reciprocal, "Reciprocal", kInexact, "1 / x.", TIDEMARK_TF_MATH(reciprocal))
    .onnx("Reciprocal") TIDEMARK_SLOPE_Y(-square(y));

TIDEMARK_FUNCTION(floor, "Floor", kFloats, "x rounded down.", TIDEMARK_TF(floor))
    .onnx("Floor")
    .no_gradient();
TIDEMARK_FUNCTION(ceil, "Ceil", kFloats, "x rounded up.", TIDEMARK_TF_MATH(ceil))
    .onnx("Ceil")
    .no_gradient();
TIDEMARK_FUNCTION(round, "Round", kReal,
                  "x rounded to the nearest integer, halves to the even one.", TIDEMARK_TF(round))
    .onnx("Round")
    .no_gradient();
TIDEMARK_FUNCTION(rint, "Rint", kFloats,
                  "x rounded to the nearest integer, halves to the even one.",
                  TIDEMARK_TF_MATH(rint))
    .no_gradient();

TIDEMARK_FUNCTION(exp, "Exp", kInexact, "e to the power of x.", TIDEMARK_TF(exp))
    .onnx("Exp") TIDEMARK_SLOPE_Y(y);
TIDEMARK_FUNCTION(expm1, "Expm1", kInexact, "e to the power of x, less 1; exact near 0.",
                  TIDEMARK_TF_MATH(expm1))
TIDEMARK_SLOPE_X(call("exp", {x}));
TIDEMARK_FUNCTION(log, "Log", kInexact, "The natural logarithm.", TIDEMARK_TF_MATH(log))
    .onnx("Log") TIDEMARK_SLOPE_X(call("reciprocal", {x}));
TIDEMARK_FUNCTION(log1p, "Log1p", kInexact, "The natural logarithm of 1 + x; exact near 0.",
                  TIDEMARK_TF_MATH(log1p))
TIDEMARK_SLOPE_X(call("reciprocal", {x + one_like(x)}));

TIDEMARK_FUNCTION(sin, "Sin", kInexact, "The sine of x in radians.", TIDEMARK_TF(sin))
    .onnx("Sin") TIDEMARK_SLOPE_X(call("cos", {x}));
TIDEMARK_FUNCTION(cos, "Cos", kInexact, "The cosine of x in radians.", TIDEMARK_TF(cos))
    .onnx("Cos") TIDEMARK_SLOPE_X(-call("sin", {x}));
TIDEMARK_FUNCTION(tan, "Tan", kInexact, "The tangent of x in radians.", TIDEMARK_TF(tan))
    .onnx("Tan") TIDEMARK_SLOPE_Y(one_like(y) + square(y));
TIDEMARK_FUNCTION(asin, "Asin", kInexact, "The angle in radians whose sine is x.",
                  TIDEMARK_TF(asin))
    .onnx("Asin") TIDEMARK_SLOPE_X(call("rsqrt", {one_like(x) - square(x)}));
TIDEMARK_FUNCTION(acos, "Acos", kInexact, "The angle in radians whose cosine is x.",
                  TIDEMARK_TF(acos))
    .onnx("Acos") TIDEMARK_SLOPE_X(-call("rsqrt", {one_like(x) - square(x)}));
TIDEMARK_FUNCTION(atan, "Atan", kInexact, "The angle in radians whose tangent is x.",
                  TIDEMARK_TF(atan))
    .onnx("Atan") TIDEMARK_SLOPE_X(call("reciprocal", {one_like(x) + square(x)}));

TIDEMARK_FUNCTION(sinh, "Sinh", kInexact, "The hyperbolic sine.", TIDEMARK_TF(sinh))
    .onnx("Sinh") TIDEMARK_SLOPE_X(call("cosh", {x}));
TIDEMARK_FUNCTION(cosh, "Cosh", kInexact, "The hyperbolic cosine.", TIDEMARK_TF(cosh))
    .onnx("Cosh") TIDEMARK_SLOPE_X(call("sinh", {x}));
TIDEMARK_FUNCTION(tanh, "Tanh", kInexact, "The hyperbolic tangent.", TIDEMARK_TF(tanh),
                  "tf.nn.tanh")
    .onnx("Tanh") TIDEMARK_SLOPE_Y(one_like(y) - square(y));
TIDEMARK_FUNCTION(asinh, "Asinh", kInexact, "The inverse of sinh.", TIDEMARK_TF(asinh))
    .onnx("Asinh") TIDEMARK_SLOPE_Y(call("reciprocal", {call("cosh", {y})}));
TIDEMARK_FUNCTION(acosh, "Acosh", kInexact, "The inverse of cosh.", TIDEMARK_TF(acosh))
    .onnx("Acosh") TIDEMARK_SLOPE_Y(call("reciprocal", {call("sinh", {y})}));
TIDEMARK_FUNCTION(atanh, "Atanh", kInexact, "The inverse of tanh.", TIDEMARK_TF(atanh))
    .onnx("Atanh") TIDEMARK_SLOPE_X(call("reciprocal", {one_like(x) - square(x)}));

TIDEMARK_FUNCTION(sigmoid, "Sigmoid", kInexact, "1 / (1 + exp(-x)).", TIDEMARK_TF(sigmoid),
                  "tf.nn.sigmoid")
    .onnx("Sigmoid") TIDEMARK_SLOPE_Y(y*(one_like(y) - y));
TIDEMARK_OP(log_sigmoid)
    .doc("log(sigmoid(x)), without overflow.")
    .python(TIDEMARK_TF_MATH(log_sigmoid))
    .input("x", kFloats)
    .output("y", like("x"))
    .elementwise() TIDEMARK_SLOPE_X(call("sigmoid", {-x}));

TIDEMARK_FUNCTION(erf, "Erf", kFloats, "The error function.", TIDEMARK_TF_MATH(erf))
    .onnx("Erf")
        TIDEMARK_SLOPE_X(scalar_like(1.12837916709551257390, x) * call("exp", {-square(x)}));
TIDEMARK_FUNCTION(erfc, "Erfc", kFloats, "1 - erf(x), exact where that is small.",
                  TIDEMARK_TF_MATH(erfc))
TIDEMARK_SLOPE_X(scalar_like(-1.12837916709551257390, x) * call("exp", {-square(x)}));
TIDEMARK_FUNCTION(erfinv, "Erfinv", kFloats, "The inverse of erf.", TIDEMARK_TF_MATH(erfinv))
TIDEMARK_SLOPE_Y(scalar_like(0.88622692545275801365, y) * call("exp", {square(y)}));
TIDEMARK_FUNCTION(ndtri, "Ndtri", kFloats, "The quantile of the normal distribution.",
                  TIDEMARK_TF_MATH(ndtri))
TIDEMARK_SLOPE_Y(scalar_like(2.50662827463100050242, y) *
                 call("exp", {square(y) * scalar_like(0.5, y)}));
TIDEMARK_FUNCTION(lgamma, "Lgamma", kFloats,
                  "The logarithm of the magnitude of the gamma function.", TIDEMARK_TF_MATH(lgamma))
TIDEMARK_SLOPE_X(call("digamma", {x}));
TIDEMARK_FUNCTION(digamma, "Digamma", kFloats, "The derivative of lgamma; NaN at its poles.",
                  TIDEMARK_TF_MATH(digamma))
TIDEMARK_SLOPE_X(call("trigamma", {x}));
TIDEMARK_OP(trigamma)
    .doc("The derivative of digamma; infinite at its poles.")
    .input("x", kFloats)
    .output("y", like("x"))
    .elementwise() TIDEMARK_SLOPE_X(call("polygamma", {scalar_like(2, x), x}));

TIDEMARK_FUNCTION(bessel_i0e, "BesselI0e", kFloats,
                  "exp(-|x|) I0(x), a modified Bessel function, scaled.", "tf.math.bessel_i0e",
                  "tf.math.special.bessel_i0e")
    .gradient(
        [](Grad& g) {
          const Tensor sign = call("sign", {g.x(0)});
          flow(g, call("bessel_i1e", {g.x(0)}) - sign * g.y());
        },
        keep_x(0) | keep_y(0));
TIDEMARK_FUNCTION(bessel_i1e, "BesselI1e", kFloats,
                  "exp(-|x|) I1(x), a modified Bessel function, scaled.", "tf.math.bessel_i1e",
                  "tf.math.special.bessel_i1e")
    .gradient(
        [](Grad& g) {
          // I1(x) / x has the limit 1/2 at 0, where I0 is 1.
          const Tensor x = g.x(0), one = one_like(x);
          const Tensor at_zero = call("equal", {x, scalar_like(0, x)});
          const Tensor safe = call("select", {at_zero, one, x});
          const Tensor slope = call("bessel_i0e", {safe}) -
                               g.y() * (call("sign", {safe}) + call("reciprocal", {safe}));
          flow(g, call("select", {at_zero, scalar_like(0.5, x), slope}));
        },
        keep_x(0) | keep_y(0));

#undef TIDEMARK_FUNCTION
#undef TIDEMARK_TF
#undef TIDEMARK_TF_MATH
#undef TIDEMARK_SLOPE_X
#undef TIDEMARK_SLOPE_Y

}  // namespace tidemark
