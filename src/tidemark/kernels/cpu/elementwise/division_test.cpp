// Division, remainders, powers, and quotients that avoid NaN.

#include <gtest/gtest.h>

#include <cmath>

#include "tidemark/kernels/cpu/testing.h"

namespace tidemark {
namespace {

using namespace tidemark::testing;
using Values = std::vector<double>;

TEST(Division, SignsAsInPython) {
  for (DType d : all_of(kSignedInts | kFloats)) {
    SCOPED_TRACE(name_of(d));
    const Tensor x = tensor(d, {7, -7, 7, -7, 6, -6, 0}), y = tensor(d, {2, 2, -2, -2, 3, 3, 5});
    EXPECT_EQ(doubles(call("floordiv", {x, y})), (Values{3, -4, -4, 3, 2, -2, 0}));
    EXPECT_EQ(doubles(call("floormod", {x, y})), (Values{1, 1, -1, -1, 0, 0, 0}));
    EXPECT_EQ(doubles(call("truncatediv", {x, y})), (Values{3, -3, -3, 3, 2, -2, 0}));
    EXPECT_EQ(doubles(call("truncatemod", {x, y})), (Values{1, -1, 1, -1, 0, 0, 0}));
  }
  for (DType d : all_of(kUnsignedInts)) {
    const Tensor x = tensor(d, {7, 200}), y = tensor(d, {2, 150});
    EXPECT_EQ(doubles(call("floordiv", {x, y})), (Values{3, 1}));
    EXPECT_EQ(doubles(call("floormod", {x, y})), (Values{1, 50}));
  }
}

TEST(Division, ByZero) {
  for (DType d : all_of(kInts)) {
    for (const char* op : {"floordiv", "floormod", "truncatediv", "truncatemod"}) {
      EXPECT_THROW(call(op, {tensor(d, {1, 2}), tensor(d, {1, 0})}), InvalidArgumentError) << op;
    }
  }
  const Tensor zero = tensor(DType::float32, {0, 0}), x = tensor(DType::float32, {1, 0});
  EXPECT_EQ(doubles(call("floordiv", {x, zero}))[0], INFINITY);
  EXPECT_TRUE(std::isnan(doubles(call("floordiv", {x, zero}))[1]));
  EXPECT_TRUE(std::isnan(doubles(call("floormod", {x, zero}))[0]));
  // Found also when it hides far inside a large tensor, on whatever thread.
  Tensor ones = tensor(DType::int32, Values(100'000, 1));
  ones.mutable_data<int32_t>()[77'777] = 0;
  EXPECT_THROW(call("floordiv", {ones, ones}), InvalidArgumentError);
}

TEST(Division, LowestOverMinusOneWrapsAround) {
  const Tensor x = Tensor::of({INT32_MIN}), y = Tensor::of({-1});
  EXPECT_EQ(call("floordiv", {x, y}).item<int32_t>(), INT32_MIN);
  EXPECT_EQ(call("truncatediv", {x, y}).item<int32_t>(), INT32_MIN);
  EXPECT_EQ(call("floormod", {x, y}).item<int32_t>(), 0);
  EXPECT_EQ(
      call("truncatemod", {Tensor::of({INT64_MIN}), Tensor::of<int64_t>({-1})}).item<int64_t>(), 0);
}

TEST(Division, FloatRemainderAtTheEdges) {
  const Tensor x = tensor(DType::float64, {1, -1, INFINITY, 0, 5.5});
  const Tensor y = tensor(DType::float64, {INFINITY, INFINITY, 2, -3, -2});
  const Values z = doubles(call("floormod", {x, y}));
  EXPECT_EQ(z[0], 1);
  EXPECT_EQ(z[1], INFINITY);
  EXPECT_TRUE(std::isnan(z[2]));
  EXPECT_EQ(z[3], 0);
  EXPECT_EQ(z[4], -0.5);
}

TEST(Power, Integers) {
  for (DType d : all_of(kInts)) {
    const Tensor x = tensor(d, {2, 3, 0, 1, 5}), y = tensor(d, {6, 4, 0, 100, 1});
    EXPECT_EQ(doubles(call("pow", {x, y})), (Values{64, 81, 1, 1, 5})) << name_of(d);
  }
  EXPECT_EQ(call("pow", {Tensor(2), Tensor(40)}).item<int32_t>(), 0);
  EXPECT_EQ(call("pow", {Tensor(-3), Tensor(3)}).item<int32_t>(), -27);
  EXPECT_THROW(call("pow", {Tensor(2), Tensor(-1)}), InvalidArgumentError);
}

TEST(Power, FloatsAgreeWithLibmAtEveryEdge) {
  const double edges[] = {0,   -0.0, 1,    -1, 2,     -2,     3,        -3,        0.5, -0.5,
                          1.5, 1e9,  -1e9, 10, 1e300, 1e-300, INFINITY, -INFINITY, NAN};
  Values x, y;
  for (double a : edges) {
    for (double b : edges) x.push_back(a), y.push_back(b);
  }
  for_each_level([&] {
    const Values z = doubles(call("pow", {tensor(DType::float64, x), tensor(DType::float64, y)}));
    const Values w = doubles(call("atan2", {tensor(DType::float64, x), tensor(DType::float64, y)}));
    const Tensor xf = tensor(DType::float32, x), yf = tensor(DType::float32, y);
    const Tensor zf = call("pow", {xf, yf});
    for (size_t i = 0; i < x.size(); ++i) {
      SCOPED_TRACE(message(x[i], " ", y[i]));
      const auto same = [](double got, double expected) {
        return std::isnan(expected) ? std::isnan(got)
                                    : got == expected || std::abs(got / expected - 1) < 1e-6;
      };
      EXPECT_TRUE(same(z[i], std::pow(x[i], y[i]))) << z[i];
      EXPECT_TRUE(same(w[i], std::atan2(x[i], y[i]))) << w[i];
      EXPECT_EQ(std::signbit(w[i]), std::signbit(std::atan2(x[i], y[i])));
      const float expected = std::pow(xf.data<float>()[i], yf.data<float>()[i]);
      EXPECT_TRUE(same(zf.data<float>()[i], expected)) << zf.data<float>()[i];
    }
  });
}

TEST(NoNaN, ZeroWhereTheDefinitionSaysSo) {
  for (DType d : all_of(kInexact)) {
    SCOPED_TRACE(name_of(d));
    const Tensor x = tensor(d, {1, 0, 6}), y = tensor(d, {0, 0, 3});
    EXPECT_EQ(doubles(call("divide_no_nan", {x, y})), (Values{0, 0, 2}));
    EXPECT_EQ(doubles(call("xdivy", {tensor(d, {0, 0, 6}), y})), (Values{0, 0, 2}));
    EXPECT_EQ(doubles(call("xlogy", {tensor(d, {0, 0}), tensor(d, {0, 1})})), (Values{0, 0}));
    EXPECT_EQ(doubles(call("xlog1py", {tensor(d, {0, 2}), tensor(d, {-1, 0})})), (Values{0, 0}));
  }
  const Tensor bad = tensor(DType::float32, {NAN, INFINITY, -INFINITY});
  const Tensor zero = tensor(DType::float32, {0, 0, 0});
  EXPECT_EQ(doubles(call("multiply_no_nan", {bad, zero})), (Values{0, 0, 0}));
  EXPECT_EQ(doubles(call("divide_no_nan", {bad, zero})), (Values{0, 0, 0}));
  EXPECT_EQ(doubles(call("xlogy", {zero, bad})), (Values{0, 0, 0}));
  EXPECT_TRUE(std::isnan(doubles(call("multiply_no_nan", {zero, bad}))[0]));
  EXPECT_NEAR(doubles(call("xlogy", {Tensor(2.f), Tensor(3.f)}))[0], 2 * std::log(3.0), 1e-6);
  EXPECT_NEAR(doubles(call("xlog1py", {Tensor(2.f), Tensor(3.f)}))[0], 2 * std::log(4.0), 1e-6);
}

TEST(NextAfter, StepsOneUlp) {
  const Tensor y =
      call("nextafter", {tensor(DType::float32, {1, 0}), tensor(DType::float32, {2, -1})});
  EXPECT_EQ(y.data<float>()[0], std::nextafter(1.f, 2.f));
  EXPECT_EQ(y.data<float>()[1], -std::numeric_limits<float>::denorm_min());
}

}  // namespace
}  // namespace tidemark
