#include <gtest/gtest.h>

#include <cmath>

#include "tidemark/kernels/cpu/testing.h"

namespace tidemark {
namespace {

using namespace tidemark::testing;

TEST(Arithmetic, AddsMultipliesAndNegatesEveryDtype) {
  for_each_level([] {
    for (DType d : all_of(kNumeric)) {
      SCOPED_TRACE(name_of(d));
      const Tensor a = tensor(d, {1, 2, 3, 7, 9});
      const Tensor b = tensor(d, {1, 1, 2, 5, 3});
      EXPECT_EQ(doubles(call("add", {a, b})), (std::vector<double>{2, 3, 5, 12, 12}));
      EXPECT_EQ(doubles(call("subtract", {a, b})), (std::vector<double>{0, 1, 1, 2, 6}));
      EXPECT_EQ(doubles(call("multiply", {a, b})), (std::vector<double>{1, 2, 6, 35, 27}));
      EXPECT_EQ(doubles(call("square", {a})), (std::vector<double>{1, 4, 9, 49, 81}));
      if (is_signed(d)) {
        EXPECT_EQ(doubles(-a), (std::vector<double>{-1, -2, -3, -7, -9}));
      }
    }
  });
}

TEST(Arithmetic, DividesInexactDtypes) {
  for (DType d : all_of(kInexact)) {
    const Tensor a = tensor(d, {1, 2, -3, 0});
    const Tensor b = tensor(d, {2, 4, 4, 8});
    EXPECT_EQ(doubles(a / b), (std::vector<double>{0.5, 0.5, -0.75, 0})) << name_of(d);
  }
}

TEST(Arithmetic, OperatorDividesIntegersAsFloats) {
  const Tensor q = tensor(DType::int32, {1, 3}) / tensor(DType::int32, {2, 4});
  EXPECT_EQ(q.dtype(), DType::float64);
  EXPECT_EQ(doubles(q), (std::vector<double>{0.5, 0.75}));
  EXPECT_EQ((tensor(DType::uint8, {1}) / tensor(DType::uint8, {2})).dtype(), DType::float32);
  EXPECT_EQ((tensor(DType::int32, {1}) / Tensor(2.f)).dtype(), DType::float32);
  EXPECT_THROW(call("truediv", {Tensor(1), Tensor(2)}), InvalidArgumentError);
}

TEST(Arithmetic, IntegersWrapAround) {
  EXPECT_EQ(doubles(tensor(DType::int8, {127}) + tensor(DType::int8, {1}))[0], -128);
  EXPECT_EQ(doubles(tensor(DType::uint8, {3}) - tensor(DType::uint8, {5}))[0], 254);
  EXPECT_EQ(doubles(-tensor(DType::int8, {-128}))[0], -128);
  const Tensor low = Tensor::of({INT32_MIN});
  EXPECT_EQ((-low).item<int32_t>(), INT32_MIN);
  EXPECT_EQ((low * low).item<int32_t>(), 0);
  EXPECT_EQ(call("multiply", {tensor(DType::uint16, {65535}), tensor(DType::uint16, {65535})})
                .item<uint16_t>(),
            1);
}

TEST(Arithmetic, ComplexNumbersKeepBothParts) {
  using C = std::complex<float>;
  const Tensor a = Tensor::of({C(1, 2), C(0, -1)});
  const Tensor b = Tensor::of({C(3, -1), C(2, 2)});
  EXPECT_EQ((a * b).data<C>()[0], C(5, 5));
  EXPECT_EQ((a + b).data<C>()[1], C(2, 1));
  EXPECT_EQ((a / b).data<C>()[1], C(-0.25f, -0.25f));
}

TEST(Arithmetic, NegativeZeroAndInfinity) {
  const Tensor y = -tensor(DType::float32, {0, INFINITY});
  EXPECT_TRUE(std::signbit(y.data<float>()[0]));
  EXPECT_EQ(y.data<float>()[1], -INFINITY);
  const Tensor q = tensor(DType::float64, {1, 0, -1}) / tensor(DType::float64, {0, 0, 0});
  EXPECT_EQ(doubles(q)[0], INFINITY);
  EXPECT_TRUE(std::isnan(doubles(q)[1]));
  EXPECT_EQ(doubles(q)[2], -INFINITY);
}

}  // namespace
}  // namespace tidemark
