// Gradients that pass through complex numbers: those of a real function of the real inputs, checked
// against finite differences. All steps between are chained here by hand.

#include <tidemark/call.h>

#include <gtest/gtest.h>

#include <cmath>

#include "tidemark/autodiff/vjp.h"

namespace tidemark {
namespace {

Tensor pulled_back(std::string_view name, std::vector<Tensor> inputs, const Tensor& dy, int input) {
  const OpDef& op = OpRegistry::instance().get(name);
  const std::vector<Tensor> outputs = call_all(op, inputs);
  return autodiff::vjp(op, inputs, {}, outputs,
                       std::vector<Tensor>{dy})[static_cast<size_t>(input)];
}

/// sum(w1 real(f(a + bi)) + w2 imag(f(a + bi))).
double value(std::string_view f, const Tensor& a, const Tensor& b, const Tensor& w1,
             const Tensor& w2) {
  const Tensor y = call(f, {call("complex", {a, b})});
  const Tensor sum = w1 * call("real", {y}) + w2 * call("imag", {y});
  double total = 0;
  for (double v : sum.values<double>()) total += v;
  return total;
}

class ComplexGradient : public ::testing::TestWithParam<const char*> {};

TEST_P(ComplexGradient, AgreesWithFiniteDifferences) {
  const std::string_view f = GetParam();
  const Tensor a = Tensor::of({0.3, -0.6, 0.9}), b = Tensor::of({0.5, 0.2, -0.7});
  const Tensor w1 = Tensor::of({1.0, -0.5, 2.0}), w2 = Tensor::of({0.7, 1.5, -1.0});
  const Tensor z = call("complex", {a, b});
  const Tensor y = call(f, {z});
  const Tensor dy = pulled_back("real", {y}, w1, 0) + pulled_back("imag", {y}, w2, 0);
  const Tensor dz = pulled_back(f, {z}, dy, 0);
  for (int which : {0, 1}) {
    const Tensor dx = pulled_back("complex", {a, b}, dz, which);
    double* x = (which == 0 ? a : b).mutable_data<double>();
    for (int i = 0; i < 3; ++i) {
      const double kept = x[i], step = 1e-6;
      x[i] = kept + step;
      const double up = value(f, a, b, w1, w2);
      x[i] = kept - step;
      const double down = value(f, a, b, w1, w2);
      x[i] = kept;
      EXPECT_NEAR(dx.data<double>()[i], (up - down) / (2 * step), 1e-6) << which << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, ComplexGradient,
                         ::testing::Values("exp", "log", "sin", "cos", "tan", "asin", "acos",
                                           "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
                                           "atanh", "sqrt", "rsqrt", "reciprocal", "square",
                                           "expm1", "log1p", "sigmoid", "conj", "negative"),
                         [](const auto& info) { return std::string(info.param); });

TEST(ComplexGradient, OfMagnitudeAndAngle) {
  const Tensor a = Tensor::of({3.0}), b = Tensor::of({4.0});
  const Tensor z = call("complex", {a, b});
  const Tensor dabs = pulled_back("abs", {z}, Tensor::of({1.0}), 0);
  EXPECT_NEAR(std::abs(dabs.item<std::complex<double>>() - std::complex(0.6, 0.8)), 0, 1e-15);
  const Tensor dangle = pulled_back("angle", {z}, Tensor::of({1.0}), 0);
  EXPECT_NEAR(std::abs(dangle.item<std::complex<double>>() - std::complex(-0.16, 0.12)), 0, 1e-15);
}

TEST(ComplexGradient, OfProductsAndQuotients) {
  using C = std::complex<double>;
  const Tensor x = Tensor::of({C(1, 2)}), y = Tensor::of({C(3, -1)}), dz = Tensor::of({C(1, 1)});
  EXPECT_EQ(pulled_back("multiply", {x, y}, dz, 0).item<C>(), C(1, 1) * std::conj(C(3, -1)));
  EXPECT_EQ(pulled_back("multiply", {x, y}, dz, 1).item<C>(), C(1, 1) * std::conj(C(1, 2)));
  const C by_y = C(1, 1) / std::conj(C(3, -1));
  EXPECT_NEAR(std::abs(pulled_back("truediv", {x, y}, dz, 0).item<C>() - by_y), 0, 1e-15);
  EXPECT_NEAR(std::abs(pulled_back("truediv", {x, y}, dz, 1).item<C>() +
                       by_y * std::conj(C(1, 2) / C(3, -1))),
              0, 1e-15);
}

}  // namespace
}  // namespace tidemark
