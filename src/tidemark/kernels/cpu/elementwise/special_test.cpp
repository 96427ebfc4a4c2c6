#include <gtest/gtest.h>

#include <cmath>

#include "tidemark/kernels/cpu/testing.h"

namespace tidemark {
namespace {

using namespace tidemark::testing;
using Values = std::vector<double>;

Values of(const char* op, const Values& x) {
  return doubles(call(op, {tensor(DType::float64, x)}));
}

TEST(Special, ErfinvUndoesErf) {
  for (double y = -5.5; y <= 5.5; y += 0.01) {
    const double x = std::erf(y);
    if (std::abs(y) < 1e-9 || std::abs(x) == 1) continue;
    // Near 1 an ulp of x moves y by 1 / erf'(y) ulps.
    const double slack = 4e-16 * std::exp(y * y);
    EXPECT_NEAR(of("erfinv", {x})[0], y, 4e-15 * std::abs(y) + slack);
  }
  const Values tiny = of("erfinv", {1e-300, 0});
  EXPECT_NEAR(tiny[0] / 8.8622692545275801365e-301, 1, 1e-14);
  EXPECT_EQ(tiny[1], 0);
}

TEST(Special, NdtriIsTheNormalQuantile) {
  EXPECT_EQ(of("ndtri", {0.5})[0], 0);
  EXPECT_NEAR(of("ndtri", {0.975})[0], 1.959963984540054235, 1e-14);
  EXPECT_NEAR(of("ndtri", {1e-10})[0], -6.361340902404056, 1e-13);
  EXPECT_NEAR(of("ndtri", {1e-300})[0], -37.047096299361201, 1e-12);
}

TEST(Special, InversesAtTheEndsOfTheirRange) {
  const Values e = of("erfinv", {1, -1, 2, NAN}), n = of("ndtri", {1, 0, 2, NAN});
  EXPECT_EQ(e[0], INFINITY);
  EXPECT_EQ(e[1], -INFINITY);
  EXPECT_TRUE(std::isnan(e[2]) && std::isnan(e[3]));
  EXPECT_EQ(n[0], INFINITY);
  EXPECT_EQ(n[1], -INFINITY);
  EXPECT_TRUE(std::isnan(n[2]) && std::isnan(n[3]));
}

TEST(Special, DigammaKnownValuesAndRecurrence) {
  EXPECT_NEAR(of("digamma", {1})[0], -0.57721566490153286061, 1e-15);
  EXPECT_NEAR(of("digamma", {0.5})[0], -1.96351002602142347944, 1e-14);
  for (double x : {0.1, 0.9, 3.3, 11.9, 12.1, 100.0, -0.3, -2.7, -20.4}) {
    EXPECT_NEAR(of("digamma", {x + 1})[0], of("digamma", {x})[0] + 1 / x, 1e-12) << x;
    EXPECT_NEAR(of("trigamma", {x + 1})[0], of("trigamma", {x})[0] - 1 / (x * x),
                1e-12 * (1 + 1 / (x * x)))
        << x;
  }
  EXPECT_NEAR(of("trigamma", {1})[0], M_PI * M_PI / 6, 1e-14);
  const Values ends = of("digamma", {0, -1, INFINITY, -INFINITY, NAN});
  EXPECT_EQ(ends[2], INFINITY);
  for (int i : {0, 1, 3, 4}) EXPECT_TRUE(std::isnan(ends[static_cast<size_t>(i)]));
}

TEST(Special, LgammaAtItsPoles) {
  const Values y = of("lgamma", {0, -1, -INFINITY, INFINITY, -0.5});
  for (int i : {0, 1, 2, 3}) EXPECT_EQ(y[static_cast<size_t>(i)], INFINITY);
  EXPECT_NEAR(y[4], 1.26551212348464539649, 1e-14);
}

TEST(Special, BesselAgreesWithTheStandardLibrary) {
  for (double x : {0.0, 1e-8, 0.5, 1.0, 7.0, 29.9, 30.1, 80.0}) {
    const double i0 = std::cyl_bessel_i(0, x) * std::exp(-x);
    const double i1 = std::cyl_bessel_i(1, x) * std::exp(-x);
    EXPECT_NEAR(of("bessel_i0e", {x})[0], i0, 1e-13 * i0) << x;
    EXPECT_NEAR(of("bessel_i1e", {x})[0], i1, 1e-13 * i1) << x;
    EXPECT_NEAR(of("bessel_i1e", {-x})[0], -i1, 1e-13 * i1) << x;
  }
  EXPECT_EQ(of("bessel_i0e", {INFINITY})[0], 0);
}

TEST(Complex, FunctionsAgreeWithTheStandardLibrary) {
  using C = std::complex<double>;
  using Reference = C (*)(const C&);
  const std::pair<const char*, Reference> functions[] = {
      {"exp", std::exp},
      {"log", std::log},
      {"sin", std::sin},
      {"cos", std::cos},
      {"tan", std::tan},
      {"sinh", std::sinh},
      {"cosh", std::cosh},
      {"tanh", std::tanh},
      {"sqrt", std::sqrt},
      {"conj", std::conj},
      {"asin", [](const C& z) { return std::asin(z); }},
      {"acos", [](const C& z) { return std::acos(z); }},
      {"atan", [](const C& z) { return std::atan(z); }},
      {"asinh", [](const C& z) { return std::asinh(z); }},
      {"acosh", [](const C& z) { return std::acosh(z); }},
      {"atanh", [](const C& z) { return std::atanh(z); }},
      {"expm1", [](const C& z) { return std::exp(z) - 1.0; }},
      {"log1p", [](const C& z) { return std::log(z + 1.0); }},
      {"rsqrt", [](const C& z) { return 1.0 / std::sqrt(z); }},
      {"reciprocal", [](const C& z) { return 1.0 / z; }},
      {"sigmoid", [](const C& z) { return 1.0 / (1.0 + std::exp(-z)); }},
      {"sign", [](const C& z) { return z / std::abs(z); }}};
  for (const C z : {C(0.3, 0.4), C(-1.2, 0.7), C(2, -3), C(0, 1.5)}) {
    const std::complex<float> narrow(z);
    for (const auto& [op, f] : functions) {
      SCOPED_TRACE(op);
      EXPECT_LT(std::abs(call(op, {Tensor::of({z})}).item<C>() - f(z)), 1e-14);
      const auto got = call(op, {Tensor::of({narrow})}).item<std::complex<float>>();
      EXPECT_LT(std::abs(C(got) - f(z)), 1e-5);
    }
  }
}

TEST(Complex, PartsAndAssembly) {
  using C = std::complex<float>;
  const Tensor z = call("complex", {Tensor::of({3.f, -1.f}), Tensor(4.f)});
  EXPECT_EQ(z.dtype(), DType::complex64);
  EXPECT_EQ(z.data<C>()[1], C(-1, 4));
  EXPECT_EQ(doubles(call("real", {z})), (Values{3, -1}));
  EXPECT_EQ(doubles(call("imag", {z})), (Values{4, 4}));
  EXPECT_EQ(doubles(call("abs", {z}))[0], 5);
  EXPECT_EQ(call("abs", {z}).dtype(), DType::float32);
  EXPECT_NEAR(doubles(call("angle", {z}))[0], std::atan2(4, 3), 1e-6);
  EXPECT_EQ(call("complex", {Tensor(1.0), Tensor(2.0)}).dtype(), DType::complex128);
  EXPECT_EQ(call("squared_difference", {z, z}).data<C>()[0], C(0));
}

TEST(Complex, RealTensorsHavePartsToo) {
  for (DType d : all_of(kReal)) {
    const Tensor x = tensor(d, {1, 2});
    EXPECT_EQ(call("real", {x}).raw_data(), x.raw_data());
    EXPECT_EQ(call("conj", {x}).raw_data(), x.raw_data());
    EXPECT_EQ(doubles(call("imag", {x})), (Values{0, 0}));
    EXPECT_EQ(call("imag", {x}).dtype(), d);
  }
  EXPECT_EQ(doubles(call("angle", {tensor(DType::float32, {1, 0})})), (Values{0, 0}));
  EXPECT_FLOAT_EQ(call("angle", {Tensor(-1.f)}).item<float>(), static_cast<float>(M_PI));
}

}  // namespace
}  // namespace tidemark
