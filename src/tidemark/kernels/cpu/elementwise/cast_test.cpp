#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tidemark/kernels/cpu/testing.h"

namespace tidemark {
namespace {

using namespace tidemark::testing;

Tensor cast(const Tensor& t, DType to) { return call("cast", {t}, {{"dtype", to}}); }

TEST(Cast, EveryPairKeepsSmallNumbers) {
  for_each_level([] {
    for (DType from : all_of(kPlain)) {
      for (DType to : all_of(kPlain)) {
        SCOPED_TRACE(message(name_of(from), " to ", name_of(to)));
        std::vector<double> values = {0, 1, 2, 3, 100, 7, 0, 5, 1, 64, 11, 13, 0, 2, 9, 1, 99, 8};
        const Tensor y = cast(tensor(from, values), to);
        if (from == DType::bool_ || to == DType::bool_) {
          for (double& v : values) v = v != 0;
        }
        EXPECT_EQ(y.dtype(), to);
        EXPECT_EQ(doubles(y), values);
      }
    }
  });
}

TEST(Cast, NegativeNumbersStayWhereTheyFit) {
  for (DType from : all_of(kSignedInts | kFloats | kComplex)) {
    for (DType to : all_of(kSignedInts | kFloats | kComplex)) {
      EXPECT_EQ(doubles(cast(tensor(from, {-1, -100}), to)), (std::vector<double>{-1, -100}));
    }
  }
}

template <class To, class From>
void expect_saturates() {
  using L = std::numeric_limits<To>;
  const From inf = std::numeric_limits<From>::infinity();
  const From nan = std::numeric_limits<From>::quiet_NaN();
  const Tensor x = Tensor::of<From>({nan, inf, -inf, From(1e30), From(-1e30), From(1.9), From(0.9),
                                     From(0), From(100.5), static_cast<From>(L::max()),
                                     static_cast<From>(L::min()), nan, inf, -inf, nan, inf, -inf});
  const Tensor y = cast(x, dtype_of<To>());
  const To* v = y.data<To>();
  const To expected[] = {0,        L::max(), L::min(), L::max(), L::min(), 1,
                         0,        0,        100,      L::max(), L::min(), 0,
                         L::max(), L::min(), 0,        L::max(), L::min()};
  for (size_t i = 0; i < std::size(expected); ++i) EXPECT_EQ(v[i], expected[i]) << i;
}

TEST(Cast, FloatsSaturateAndNaNIsZero) {
  for_each_level([] {
    expect_saturates<int8_t, float>();
    expect_saturates<uint8_t, float>();
    expect_saturates<int16_t, float>();
    expect_saturates<uint16_t, float>();
    expect_saturates<int32_t, float>();
    expect_saturates<uint32_t, float>();
    expect_saturates<int64_t, float>();
    expect_saturates<uint64_t, float>();
    expect_saturates<int8_t, double>();
    expect_saturates<int32_t, double>();
    expect_saturates<uint32_t, double>();
    expect_saturates<int64_t, double>();
    expect_saturates<uint64_t, double>();
  });
}

TEST(Cast, FractionsAreCutOffTowardsZero) {
  const Tensor x = tensor(DType::float64, {-1.9, -0.5, 0.5, 1.9});
  EXPECT_EQ(doubles(cast(x, DType::int32)), (std::vector<double>{-1, 0, 0, 1}));
}

TEST(Cast, IntegersWrapIntoNarrowerOnes) {
  EXPECT_EQ(doubles(cast(tensor(DType::int32, {300, -1}), DType::uint8)),
            (std::vector<double>{44, 255}));
}

TEST(Cast, WhateverDiffersFromZeroIsTrue) {
  const Tensor x = tensor(DType::float32, {0, -0.0, 0.25, NAN, INFINITY});
  EXPECT_EQ(doubles(cast(x, DType::bool_)), (std::vector<double>{0, 0, 1, 1, 1}));
  using C = std::complex<float>;  // the imaginary part is dropped first
  EXPECT_FALSE(cast(Tensor::of({C(0, 1)}), DType::bool_).item<bool>());
  EXPECT_TRUE(cast(Tensor::of({C(1, 0)}), DType::bool_).item<bool>());
}

TEST(Cast, EveryHalfComesBack) {
  for (DType d : {DType::float16, DType::bfloat16}) {
    for_each_level([&] {
      Tensor all = Tensor::uninitialized(d, {65536});
      auto* bits = static_cast<uint16_t*>(all.mutable_raw_data());
      for (int i = 0; i < 65536; ++i) bits[i] = static_cast<uint16_t>(i);
      const Tensor wide = cast(all, DType::float32);
      const Tensor back = cast(wide, d);
      const auto* returned = static_cast<const uint16_t*>(back.raw_data());
      int wrong = 0;
      for (int i = 0; i < 65536; ++i) {
        const float v = wide.data<float>()[i];
        const double reference = d == DType::float16 ? as_double(std::bit_cast<Half>(bits[i]))
                                                     : as_double(std::bit_cast<BFloat16>(bits[i]));
        wrong +=
            std::isnan(reference) ? !std::isnan(v) : (v != reference || returned[i] != bits[i]);
      }
      EXPECT_EQ(wrong, 0) << name_of(d);
    });
  }
}

TEST(Cast, ToHalfRoundsToNearestEven) {
  for_each_level([] {
    std::vector<double> values;
    for (int i = 0; i < 40000; ++i) values.push_back(std::ldexp(1 + i / 40000.0, i % 60 - 35));
    const Tensor x = tensor(DType::float32, values);
    EXPECT_EQ(doubles(cast(x, DType::float16)), doubles(tensor(DType::float16, doubles(x))));
    EXPECT_EQ(doubles(cast(x, DType::bfloat16)), doubles(tensor(DType::bfloat16, doubles(x))));
  });
}

}  // namespace
}  // namespace tidemark
