// Special functions of one, two and three numbers.

#include "tidemark/ops/gradients.h"

namespace tidemark {

namespace {

Tensor one_like(const Tensor& t) { return scalar_like(1, t); }
Tensor square(const Tensor& t) { return call("square", {t}); }

/// dx = dy * slope.
void flow(Grad& g, const Tensor& slope) { g.dx(0) = g.dy() * slope; }

/// f(x) / x, and the limit at 0.
Tensor divided_by_x(const Tensor& f, const Tensor& x, double at_zero) {
  const Tensor is_zero = call("equal", {x, scalar_like(0, x)});
  const Tensor safe = call("select", {is_zero, one_like(x), x});
  return call("select", {is_zero, scalar_like(at_zero, x), f / safe});
}

/// pi x^2 / 2
Tensor fresnel_angle(const Tensor& x) { return scalar_like(1.57079632679489661923, x) * square(x); }

/// x^(a - 1) e^-x / gamma(a)
Tensor gamma_density(const Tensor& a, const Tensor& x) {
  const Tensor power = call("xlogy", {a - one_like(a), x});
  return call("exp", {power - x - call("lgamma", {a})});
}

void incomplete_gamma_gradient(Grad& g, bool upper) {
  const Tensor &a = g.x(0), &x = g.x(1);
  const Tensor dy = upper ? -g.dy() : g.dy();
  if (g.wants(0)) g.dx(0) = g.unbroadcast(dy * call("igamma_grad_a", {a, x}), 0);
  if (g.wants(1)) g.dx(1) = g.unbroadcast(dy * gamma_density(a, x), 1);
}

}  // namespace

#define TIDEMARK_SPECIAL_FUNCTION(op, text) \
  TIDEMARK_OP(op)                           \
      .doc(text)                            \
      .python("tf.math.special." #op)       \
      .input("x", kFloats)                  \
      .output("y", like("x"))               \
      .elementwise()
#define TIDEMARK_SLOPE(keep, ...)                             \
  .gradient(                                                  \
      [](Grad& g) {                                           \
        [[maybe_unused]] const Tensor &x = g.x(0), y = g.y(); \
        flow(g, __VA_ARGS__);                                 \
      },                                                      \
      keep)

TIDEMARK_SPECIAL_FUNCTION(bessel_j0, "The Bessel function of the first kind and order 0.")
TIDEMARK_SLOPE(keep_x(0), -call("bessel_j1", {x}));
TIDEMARK_SPECIAL_FUNCTION(bessel_j1, "The Bessel function of the first kind and order 1.")
TIDEMARK_SLOPE(keep_x(0) | keep_y(0), call("bessel_j0", {x}) - divided_by_x(y, x, 0.5));
TIDEMARK_SPECIAL_FUNCTION(bessel_y0, "The Bessel function of the second kind and order 0.")
TIDEMARK_SLOPE(keep_x(0), -call("bessel_y1", {x}));
TIDEMARK_SPECIAL_FUNCTION(bessel_y1, "The Bessel function of the second kind and order 1.")
TIDEMARK_SLOPE(keep_x(0) | keep_y(0), call("bessel_y0", {x}) - y / x);
TIDEMARK_SPECIAL_FUNCTION(bessel_k0, "The modified Bessel function of the second kind, order 0.")
TIDEMARK_SLOPE(keep_x(0), -call("bessel_k1", {x}));
TIDEMARK_SPECIAL_FUNCTION(bessel_k1, "The modified Bessel function of the second kind, order 1.")
TIDEMARK_SLOPE(keep_x(0) | keep_y(0), -(call("bessel_k0", {x}) + y / x));
TIDEMARK_SPECIAL_FUNCTION(bessel_k0e, "exp(x) K0(x), a modified Bessel function, scaled.")
TIDEMARK_SLOPE(keep_x(0) | keep_y(0), y - call("bessel_k1e", {x}));
TIDEMARK_SPECIAL_FUNCTION(bessel_k1e, "exp(x) K1(x), a modified Bessel function, scaled.")
TIDEMARK_SLOPE(keep_x(0) | keep_y(0), y - call("bessel_k0e", {x}) - y / x);

TIDEMARK_SPECIAL_FUNCTION(dawsn, "Dawson's integral: exp(-x^2) times that of exp(t^2) up to x.")
TIDEMARK_SLOPE(keep_x(0) | keep_y(0), one_like(x) - scalar_like(2, x) * x * y);
TIDEMARK_SPECIAL_FUNCTION(fresnel_cos, "The integral of cos(pi t^2 / 2) from 0 to x.")
TIDEMARK_SLOPE(keep_x(0), call("cos", {fresnel_angle(x)}));
TIDEMARK_SPECIAL_FUNCTION(fresnel_sin, "The integral of sin(pi t^2 / 2) from 0 to x.")
TIDEMARK_SLOPE(keep_x(0), call("sin", {fresnel_angle(x)}));
TIDEMARK_SPECIAL_FUNCTION(expint, "The exponential integral: that of exp(t) / t up to x.")
TIDEMARK_SLOPE(keep_x(0), call("exp", {x}) / x);
TIDEMARK_SPECIAL_FUNCTION(spence, "Spence's integral: that of log(t) / (1 - t) from 1 to x.")
TIDEMARK_SLOPE(keep_x(0), [](const Tensor& at) {
  const Tensor below = one_like(at) - at;
  return divided_by_x(call("log", {at}), below, -1);
}(x));

#undef TIDEMARK_SPECIAL_FUNCTION
#undef TIDEMARK_SLOPE

TIDEMARK_OP(igamma)
    .doc("The lower regularised incomplete gamma function P(a, x).")
    .python("tf.math.igamma")
    .tensorflow("Igamma")
    .input("a", kFloats)
    .input("x", kFloats)
    .output("z", like("a"))
    .elementwise()
    .gradient([](Grad& g) { incomplete_gamma_gradient(g, false); }, keep_x(0, 1));

TIDEMARK_OP(igammac)
    .doc("The upper regularised incomplete gamma function Q(a, x) = 1 - P(a, x).")
    .python("tf.math.igammac")
    .tensorflow("Igammac")
    .input("a", kFloats)
    .input("x", kFloats)
    .output("z", like("a"))
    .elementwise()
    .gradient([](Grad& g) { incomplete_gamma_gradient(g, true); }, keep_x(0, 1));

TIDEMARK_OP(igamma_grad_a)
    .doc("The derivative of igamma(a, x) with respect to a.")
    .input("a", kFloats)
    .input("x", kFloats)
    .output("z", like("a"))
    .elementwise()
    .missing_gradient();

TIDEMARK_OP(random_gamma_grad)
    .doc("The derivative of a gamma number with respect to its shape parameter.")
    .input("alpha", kFloats)
    .input("sample", kFloats)
    .output("output", like("alpha"))
    .elementwise()
    .missing_gradient();

TIDEMARK_OP(zeta)
    .doc("The Hurwitz zeta function: the sum of 1 / (q + k)^x over k >= 0.")
    .python("tf.math.zeta")
    .tensorflow("Zeta")
    .input("x", kFloats)
    .input("q", kFloats)
    .output("z", like("x"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor &x = g.x(0), &q = g.x(1);
          g.dx(1) = g.unbroadcast(g.dy() * -x * call("zeta", {x + one_like(x), q}), 1);
        },
        keep_x(0, 1));

TIDEMARK_OP(polygamma)
    .doc("The a-th derivative of digamma at x; a is a whole number.")
    .python("tf.math.polygamma")
    .tensorflow("Polygamma")
    .input("a", kFloats)
    .input("x", kFloats)
    .output("z", like("a"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor &a = g.x(0), &x = g.x(1);
          g.dx(1) = g.unbroadcast(g.dy() * call("polygamma", {a + one_like(a), x}), 1);
        },
        keep_x(0, 1));

TIDEMARK_OP(betainc)
    .doc("The regularised incomplete beta function I_x(a, b).")
    .python("tf.math.betainc")
    .tensorflow("Betainc")
    .input("a", kFloats)
    .input("b", kFloats)
    .input("x", kFloats)
    .output("z", like("a"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor &a = g.x(0), &b = g.x(1), &x = g.x(2);
          const Tensor one = one_like(x);
          const Tensor log_beta =
              call("lgamma", {a}) + call("lgamma", {b}) - call("lgamma", {a + b});
          const Tensor log_slope =
              call("xlog1py", {b - one, -x}) + call("xlogy", {a - one, x}) - log_beta;
          g.dx(2) = g.unbroadcast(g.dy() * call("exp", {log_slope}), 2);
        },
        keep_x(0, 1, 2));

}  // namespace tidemark
