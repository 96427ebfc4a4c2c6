#include <tidemark/dtype.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tidemark {
namespace {

constexpr DType kAll[] = {DType::float32,    DType::float64, DType::int32,    DType::uint8,
                          DType::int16,      DType::int8,    DType::string,   DType::complex64,
                          DType::int64,      DType::bool_,   DType::bfloat16, DType::uint16,
                          DType::complex128, DType::float16, DType::uint32,   DType::uint64};

TEST(DType, NamesRoundTrip) {
  for (DType d : kAll) EXPECT_EQ(dtype_from_name(name_of(d)), d);
  EXPECT_EQ(dtype_from_name("float128"), DType::invalid);
  EXPECT_EQ(dtype_from_name("half"), DType::float16);
}

TEST(DType, PromotionIsSymmetricAndIdempotent) {
  for (DType a : kAll) {
    EXPECT_EQ(promote(a, a), a);
    for (DType b : kAll) {
      EXPECT_EQ(promote(a, b), promote(b, a));
      const DType joined = promote(a, b);
      if (joined != DType::invalid) {
        EXPECT_EQ(promote(joined, a), joined);
      }
    }
  }
}

TEST(DType, PromotionKeepsValues) {
  EXPECT_EQ(promote(DType::int32, DType::float32), DType::float32);
  EXPECT_EQ(promote(DType::int64, DType::bfloat16), DType::bfloat16);
  EXPECT_EQ(promote(DType::int8, DType::uint8), DType::int16);
  EXPECT_EQ(promote(DType::uint32, DType::int32), DType::int64);
  EXPECT_EQ(promote(DType::uint64, DType::int8), DType::float64);
  EXPECT_EQ(promote(DType::float16, DType::bfloat16), DType::float32);
  EXPECT_EQ(promote(DType::complex64, DType::float64), DType::complex128);
  EXPECT_EQ(promote(DType::bool_, DType::uint8), DType::uint8);
  EXPECT_EQ(promote(DType::string, DType::int32), DType::invalid);
}

TEST(Half, EveryValueSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    Half h;
    h.bits = static_cast<uint16_t>(bits);
    const auto value = static_cast<float>(h);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(Half(value))));
    } else {
      ASSERT_EQ(Half(value).bits, h.bits) << bits;
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(Half(1.f + 1.f / 2048).bits, Half(1.f).bits);               // tie to even
  EXPECT_EQ(Half(1.f + 3.f / 2048).bits, Half(1.f + 4.f / 2048).bits);  // tie to even, up
  EXPECT_EQ(static_cast<float>(Half(65520.f)), std::numeric_limits<float>::infinity());
  EXPECT_EQ(static_cast<float>(Half(65519.f)), 65504.f);
  EXPECT_EQ(static_cast<float>(Half(5.9604645e-8f)), 5.9604645e-8f);  // smallest subnormal
}

TEST(BFloat16, RoundsToNearestEvenAndKeepsNaN) {
  EXPECT_EQ(static_cast<float>(BFloat16(1.f + 1.f / 256)), 1.f);
  EXPECT_EQ(static_cast<float>(BFloat16(1.f + 3.f / 256)), 1.f + 4.f / 256);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::nanf("")))));
  EXPECT_TRUE(std::isinf(static_cast<float>(BFloat16(std::numeric_limits<float>::max()))));
}

}  // namespace
}  // namespace tidemark
