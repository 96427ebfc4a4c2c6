// Accuracy of the functions of one number, against long double, over the whole range of floats.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "tidemark/kernels/cpu/testing.h"

namespace tidemark {
namespace {

using namespace tidemark::testing;
using Reference = long double (*)(long double);

struct Function {
  const char* op;
  Reference reference;
  double ulps = 4;
};

long double sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }
long double softplus(long double x) {
  return (x > 0 ? x : x < 0 ? 0 : x) + std::log1p(std::exp(-std::abs(x)));
}
long double elu(long double x) { return x > 0 ? x : std::expm1(x); }
long double selu(long double x) {
  return 1.0507009873554804934193349852946L *
         (x > 0 ? x : 1.6732632423543772848170429916717L * std::expm1(x));
}
long double gelu(long double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0L)); }
long double sign(long double x) { return std::isnan(x) ? x : x > 0 ? 1 : x < 0 ? -1 : 0; }

const Function kFunctions[] = {
    {"abs", [](long double x) { return std::abs(x); }, 0},
    {"negative", [](long double x) { return -x; }, 0},
    {"sign", sign, 0},
    {"floor", [](long double x) { return std::floor(x); }, 0},
    {"ceil", [](long double x) { return std::ceil(x); }, 0},
    {"round", [](long double x) { return std::nearbyint(x); }, 0},
    {"rint", [](long double x) { return std::rint(x); }, 0},
    {"square", [](long double x) { return x * x; }, 0.51},
    {"sqrt", [](long double x) { return std::sqrt(x); }, 0.51},
    {"rsqrt", [](long double x) { return 1 / std::sqrt(x); }, 1.5},
    {"reciprocal", [](long double x) { return 1 / x; }, 0.51},
    {"exp", [](long double x) { return std::exp(x); }},
    {"expm1", [](long double x) { return std::expm1(x); }},
    {"log", [](long double x) { return std::log(x); }},
    {"log1p", [](long double x) { return std::log1p(x); }},
    {"sin", [](long double x) { return std::sin(x); }},
    {"cos", [](long double x) { return std::cos(x); }},
    {"tan", [](long double x) { return std::tan(x); }},
    {"asin", [](long double x) { return std::asin(x); }},
    {"acos", [](long double x) { return std::acos(x); }},
    {"atan", [](long double x) { return std::atan(x); }},
    {"sinh", [](long double x) { return std::sinh(x); }},
    {"cosh", [](long double x) { return std::cosh(x); }},
    {"tanh", [](long double x) { return std::tanh(x); }},
    {"asinh", [](long double x) { return std::asinh(x); }},
    {"acosh", [](long double x) { return std::acosh(x); }},
    {"atanh", [](long double x) { return std::atanh(x); }},
    {"erf", [](long double x) { return std::erf(x); }},
    {"erfc", [](long double x) { return std::erfc(x); }},
    {"lgamma", [](long double x) { return std::lgamma(x); }, 8},
    {"sigmoid", sigmoid},
    {"softplus", softplus},
    {"log_sigmoid", [](long double x) { return -softplus(-x); }},
    {"elu", elu},
    {"selu", selu},
    {"softsign", [](long double x) { return x / (1 + std::abs(x)); }, 2},
    {"relu", [](long double x) { return x < 0 ? 0 : x; }, 0},
    {"relu6", [](long double x) { return x < 0   ? 0
                                         : x > 6 ? 6
                                                 : x; }, 0},
};

/// Everything that tends to break: zeros, subnormals, infinities, NaN, huge; and a wide spread.
template <class T>
std::vector<T> trying_values() {
  using L = std::numeric_limits<T>;
  std::vector<T> v = {0,
                      T(-0.0),
                      1,
                      -1,
                      T(0.5),
                      T(-0.5),
                      T(1.5),
                      T(2.5),
                      T(-2.5),
                      L::min(),
                      -L::min(),
                      L::denorm_min(),
                      -L::denorm_min(),
                      L::min() / 8,
                      L::max(),
                      L::lowest(),
                      L::infinity(),
                      -L::infinity(),
                      L::quiet_NaN(),
                      L::epsilon(),
                      1 + L::epsilon(),
                      1 - L::epsilon() / 2,
                      T(1e10),
                      T(-1e10),
                      T(88.7),
                      T(-87.3),
                      T(-103),
                      T(709.5),
                      T(-745),
                      T(3.14159265358979)};
  std::mt19937_64 engine(11);
  std::uniform_real_distribution<double> near(-10, 10), exponent(-40, 40);
  for (int i = 0; i < 20000; ++i) v.push_back(static_cast<T>(near(engine)));
  for (int i = 0; i < 20000; ++i) {
    v.push_back(static_cast<T>(std::ldexp(near(engine) / 10, static_cast<int>(exponent(engine)))));
  }
  while (v.size() % 16 != 7) v.push_back(1);  // a tail that is no whole vector
  return v;
}

template <class T>
double ulps_between(T got, long double reference) {
  const T rounded = static_cast<T>(reference);
  if (std::isnan(rounded) || std::isnan(got))
    return std::isnan(rounded) && std::isnan(got) ? 0 : INFINITY;
  if (got == rounded) return 0;
  if (std::isinf(got) || std::isinf(rounded)) {
    // Next to the largest number either is near enough.
    const T finite = std::isinf(got) ? rounded : got;
    return std::abs(finite) > std::numeric_limits<T>::max() * T(0.999999) ? 1 : INFINITY;
  }
  const T magnitude = std::max(std::abs(rounded), std::numeric_limits<T>::min());
  const T ulp = std::nextafter(magnitude, std::numeric_limits<T>::infinity()) - magnitude;
  return static_cast<double>(std::abs(static_cast<long double>(got) - reference) / ulp);
}

template <class T>
void expect_accurate(const Function& f) {
  const std::vector<T> x = trying_values<T>();
  const Tensor y =
      call(f.op, {Tensor::of(std::span<const T>(x), {static_cast<int64_t>(x.size())})});
  const T* values = y.data<T>();
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double u = ulps_between(values[i], f.reference(x[i]));
    if (u > worst) worst = u, where = i;
  }
  EXPECT_LE(worst, f.ulps) << f.op << " of " << name_of(dtype_of<T>()) << " at " << x[where]
                           << " gives " << values[where] << ", not "
                           << static_cast<double>(f.reference(x[where]));
}

TEST(Math, FloatsWithinFourUlps) {
  for_each_level([] {
    for (const Function& f : kFunctions) expect_accurate<float>(f);
  });
}

TEST(Math, DoublesWithinFourUlps) {
  for_each_level([] {
    for (const Function& f : kFunctions) expect_accurate<double>(f);
  });
}

TEST(Math, HalfTypesAreTheRoundedFloatResult) {
  for (const Function& f : kFunctions) {
    for (DType d : {DType::float16, DType::bfloat16}) {
      const std::vector<float> wide = trying_values<float>();
      const Tensor x = call(
          "cast", {Tensor::of(std::span<const float>(wide), {static_cast<int64_t>(wide.size())})},
          {{"dtype", d}});
      const Tensor y = call(f.op, {x});
      ASSERT_EQ(y.dtype(), d);
      const Tensor through = call(
          "cast", {call(f.op, {call("cast", {x}, {{"dtype", DType::float32}})})}, {{"dtype", d}});
      EXPECT_EQ(std::memcmp(y.raw_data(), through.raw_data(), y.nbytes()), 0)
          << f.op << " " << name_of(d);
    }
  }
}

TEST(Math, AnElementsResultDoesNotDependOnItsPlace) {
  for_each_level([] {
    for (const Function& f : kFunctions) {
      std::vector<float> x(1003, 0.7315f);
      const Tensor y = call(f.op, {Tensor::of(std::span<const float>(x), {1003})});
      for (float v : y.values<float>()) {
        ASSERT_EQ(std::bit_cast<uint32_t>(v), std::bit_cast<uint32_t>(y.data<float>()[0])) << f.op;
      }
      const Tensor alone = call(f.op, {Tensor::of({0.7315f})});
      EXPECT_EQ(std::memcmp(alone.raw_data(), y.raw_data(), 4), 0) << f.op;
    }
  });
}

/// Distance in units of the last place of the float nearest to `expected`.
double ulps_off(float got, double expected) {
  const float near = std::abs(static_cast<float>(expected));
  return std::abs(got - expected) / (std::nextafter(near, INFINITY) - near);
}

TEST(Math, GeluOfFloatsAndItsSlopeAreAccurateEverywhere) {
  std::vector<double> x;
  for (double v = -12.9; v < 12.9; v += 1e-4) x.push_back(static_cast<float>(v));
  for (float tiny = 0x1p-100f; tiny < 0.1f; tiny *= 1.07f) {
    x.push_back(tiny);
    x.push_back(-tiny);
  }
  const Tensor floats = tensor(DType::float32, x);
  bool is_lowest_level = true;  // which rounds products before it adds them
  for_each_level([&] {
    const double nearby = is_lowest_level ? 6 : 4.5;
    is_lowest_level = false;
    const Tensor y = call("gelu", {floats}), slope = call("gelu_grad", {Tensor(1.f), floats});
    for (size_t i = 0; i < x.size(); ++i) {
      const double tail = 0.5 * std::erfc(std::abs(x[i]) * std::sqrt(0.5));
      const double bell = std::exp(-0.5 * x[i] * x[i]) / std::sqrt(2 * std::acos(-1.0));
      const double expected = x[i] > 0 ? x[i] - x[i] * tail : x[i] * tail;
      // The tail's relative error grows by a few roundings of its exponent.
      const double room = nearby + (x[i] < -5 ? 0.8 * (-x[i] - 5) : 0);
      ASSERT_LE(ulps_off(y.data<float>()[i], expected), room) << x[i];
      const double drop = std::abs(x[i]) * bell, below = tail - drop;
      ASSERT_NEAR(slope.data<float>()[i], x[i] > 0 ? 1 - below : below,
                  (x[i] > 0 ? 2e-7 : 0) + room * 1.2e-7 * (tail + drop))
          << x[i];
    }
  });
  const Tensor far = tensor(DType::float32, {INFINITY, -INFINITY, NAN, -14, 14});
  const Tensor ends = call("gelu_grad", {Tensor(1.f), far});
  EXPECT_EQ(ends.data<float>()[0], 1);
  EXPECT_EQ(ends.data<float>()[1], 0);
  EXPECT_TRUE(std::isnan(ends.data<float>()[2]));
  EXPECT_EQ(ends.data<float>()[3], 0);
  EXPECT_EQ(ends.data<float>()[4], 1);
}

TEST(Math, GeluAndSwishStayRelativelyAccurateFarBelowZero) {
  // An error of half an ulp in x / sqrt(2) alone changes gelu by about x^2 of its ulps.
  const std::vector<double> x = trying_values<double>();
  const Tensor g = call("gelu", {tensor(DType::float64, x)});
  const Tensor s = call("swish", {tensor(DType::float64, x)});
  for (size_t i = 0; i < x.size(); ++i) {
    if (!(std::abs(x[i]) <= 30)) continue;
    const auto gelu_here = static_cast<double>(gelu(x[i]));
    const double room = 1e-15 * (2 + x[i] * x[i]) * std::abs(gelu_here) + 1e-320;
    ASSERT_NEAR(g.data<double>()[i], gelu_here, room) << x[i];
    const auto swish_here = static_cast<double>(x[i] * sigmoid(x[i]));
    ASSERT_NEAR(s.data<double>()[i], swish_here, 1e-15 * std::abs(swish_here) + 1e-320) << x[i];
  }
  const Tensor ends = call("gelu", {tensor(DType::float32, {INFINITY, -INFINITY, NAN, -200, 200})});
  EXPECT_EQ(ends.data<float>()[0], INFINITY);
  EXPECT_TRUE(std::isnan(ends.data<float>()[2]));
  EXPECT_EQ(ends.data<float>()[3], 0);
  EXPECT_EQ(ends.data<float>()[4], 200);
}

TEST(Math, EmptyAndScalar) {
  for (const Function& f : kFunctions) {
    EXPECT_EQ(call(f.op, {Tensor::of<float>({}, {0, 3})}).shape(), (Shape{0, 3})) << f.op;
    EXPECT_EQ(call(f.op, {Tensor(1.f)}).shape(), Shape()) << f.op;
  }
}

TEST(Math, RejectsWrongDtypes) {
  EXPECT_THROW(call("exp", {Tensor(1)}), InvalidArgumentError);
  EXPECT_THROW(call("floor", {Tensor(1)}), InvalidArgumentError);
  EXPECT_THROW(call("abs", {Tensor(true)}), InvalidArgumentError);
}

TEST(Math, IntegersKeepTheirDtype) {
  for (DType d : all_of(kSignedInts)) {
    const Tensor x = tensor(d, {-3, 0, 5, -100});
    EXPECT_EQ(doubles(call("abs", {x})), (std::vector<double>{3, 0, 5, 100}));
    EXPECT_EQ(doubles(call("sign", {x})), (std::vector<double>{-1, 0, 1, -1}));
    EXPECT_EQ(doubles(call("round", {x})), (std::vector<double>{-3, 0, 5, -100}));
    EXPECT_EQ(doubles(call("relu", {x})), (std::vector<double>{0, 0, 5, 0}));
    EXPECT_EQ(doubles(call("relu6", {x})), (std::vector<double>{0, 0, 5, 0}));
  }
  EXPECT_EQ(doubles(call("abs", {tensor(DType::int8, {-128})}))[0], -128);
}

TEST(Math, Parameters) {
  const Tensor x = tensor(DType::float32, {-2, 3});
  const auto leaky = doubles(call("leaky_relu", {x}, {{"alpha", 0.25}}));
  EXPECT_EQ(leaky, (std::vector<double>{-0.5, 3}));
  EXPECT_EQ(call("leaky_relu", {x}).data<float>()[0], -2 * 0.2f);
  const double beta = 2;
  EXPECT_NEAR(doubles(call("swish", {x}, {{"beta", beta}}))[1], 3 / (1 + std::exp(-6.0)), 1e-6);
  const double inner = std::sqrt(2 / M_PI) * (3 + 0.044715 * 27);
  EXPECT_NEAR(doubles(call("gelu", {x}, {{"approximate", true}}))[1], 1.5 * (1 + std::tanh(inner)),
              1e-6);
  EXPECT_NEAR(doubles(call("gelu", {x}))[1], 1.5 * (1 + std::erf(3 / std::sqrt(2.0))), 1e-6);
}

}  // namespace
}  // namespace tidemark
