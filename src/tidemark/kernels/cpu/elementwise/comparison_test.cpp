// Comparisons, logic, bits, maxima.

#include <gtest/gtest.h>

#include <cmath>

#include "tidemark/kernels/cpu/testing.h"

namespace tidemark {
namespace {

using namespace tidemark::testing;
using Values = std::vector<double>;

TEST(Comparison, EveryOrderedDtype) {
  for_each_level([] {
    for (DType d : all_of(kReal)) {
      SCOPED_TRACE(name_of(d));
      const Tensor x = tensor(d, {1, 2, 3, 100, 5}), y = tensor(d, {1, 3, 2, 7, 100});
      EXPECT_EQ(doubles(call("equal", {x, y})), (Values{1, 0, 0, 0, 0}));
      EXPECT_EQ(doubles(call("not_equal", {x, y})), (Values{0, 1, 1, 1, 1}));
      EXPECT_EQ(doubles(call("less", {x, y})), (Values{0, 1, 0, 0, 1}));
      EXPECT_EQ(doubles(call("less_equal", {x, y})), (Values{1, 1, 0, 0, 1}));
      EXPECT_EQ(doubles(call("greater", {x, y})), (Values{0, 0, 1, 1, 0}));
      EXPECT_EQ(doubles(call("greater_equal", {x, y})), (Values{1, 0, 1, 1, 0}));
      EXPECT_EQ(doubles(call("maximum", {x, y})), (Values{1, 3, 3, 100, 100}));
      EXPECT_EQ(doubles(call("minimum", {x, y})), (Values{1, 2, 2, 7, 5}));
      const Tensor squares = call("squared_difference", {tensor(d, {5, 2}), tensor(d, {2, 5})});
      EXPECT_EQ(doubles(squares), (Values{9, 9}));
    }
  });
}

TEST(Comparison, BoolAndComplexKnowEquality) {
  const Tensor t = tensor(DType::bool_, {1, 0, 1}), f = tensor(DType::bool_, {1, 1, 0});
  EXPECT_EQ(doubles(call("equal", {t, f})), (Values{1, 0, 0}));
  EXPECT_EQ(doubles(call("not_equal", {t, f})), (Values{0, 1, 1}));
  using C = std::complex<double>;
  const Tensor a = Tensor::of({C(1, 2), C(1, 2)}), b = Tensor::of({C(1, 2), C(1, 3)});
  EXPECT_EQ(doubles(call("equal", {a, b})), (Values{1, 0}));
  EXPECT_THROW(call("less", {a, b}), InvalidArgumentError);
}

TEST(Comparison, NaN) {
  for (DType d : all_of(kFloats)) {
    const Tensor x = tensor(d, {NAN, 1, NAN}), y = tensor(d, {1, NAN, NAN});
    for (const char* op : {"equal", "less", "less_equal", "greater", "greater_equal"}) {
      EXPECT_EQ(doubles(call(op, {x, y})), (Values{0, 0, 0})) << op;
    }
    EXPECT_EQ(doubles(call("not_equal", {x, y})), (Values{1, 1, 1}));
    for (const char* op : {"maximum", "minimum"}) {
      for (double v : doubles(call(op, {x, y}))) EXPECT_TRUE(std::isnan(v)) << op;
    }
    EXPECT_TRUE(std::isnan(doubles(call("relu", {x}))[0]));
    EXPECT_TRUE(std::isnan(doubles(call("clip_by_value", {x, tensor(d, {0}), tensor(d, {2})}))[0]));
  }
}

TEST(Comparison, KindsOfFloats) {
  for (DType d : all_of(kFloats)) {
    const Tensor x = tensor(d, {NAN, INFINITY, -INFINITY, 0, -1});
    EXPECT_EQ(doubles(call("is_nan", {x})), (Values{1, 0, 0, 0, 0}));
    EXPECT_EQ(doubles(call("is_inf", {x})), (Values{0, 1, 1, 0, 0}));
    EXPECT_EQ(doubles(call("is_finite", {x})), (Values{0, 0, 0, 1, 1}));
  }
}

TEST(Comparison, Logic) {
  const Tensor x = tensor(DType::bool_, {0, 0, 1, 1}), y = tensor(DType::bool_, {0, 1, 0, 1});
  EXPECT_EQ(doubles(call("logical_and", {x, y})), (Values{0, 0, 0, 1}));
  EXPECT_EQ(doubles(call("logical_or", {x, y})), (Values{0, 1, 1, 1}));
  EXPECT_EQ(doubles(call("logical_xor", {x, y})), (Values{0, 1, 1, 0}));
  EXPECT_EQ(doubles(call("logical_not", {x})), (Values{1, 1, 0, 0}));
  EXPECT_THROW(call("logical_and", {Tensor(1), Tensor(2)}), InvalidArgumentError);
}

TEST(Comparison, ClipsBetweenLimitsThatBroadcast) {
  const Tensor x = tensor(DType::int32, {1, 5, 9, -4}, {2, 2});
  EXPECT_EQ(doubles(call("clip_by_value", {x, Tensor(2), Tensor(6)})), (Values{2, 5, 6, 2}));
  const Tensor low = tensor(DType::int32, {0, -2});
  EXPECT_EQ(doubles(call("clip_by_value", {x, low, Tensor(6)})), (Values{1, 5, 6, -2}));
  EXPECT_EQ(doubles(call("clip_by_value", {x, Tensor(3), Tensor(2)})), (Values{3, 3, 3, 3}));
}

TEST(Bits, EveryIntegerDtype) {
  for_each_level([] {
    for (DType d : all_of(kInts)) {
      SCOPED_TRACE(name_of(d));
      const Tensor x = tensor(d, {12, 10, 5, 0}), y = tensor(d, {10, 3, 1, 7});
      EXPECT_EQ(doubles(call("bitwise_and", {x, y})), (Values{8, 2, 1, 0}));
      EXPECT_EQ(doubles(call("bitwise_or", {x, y})), (Values{14, 11, 5, 7}));
      EXPECT_EQ(doubles(call("bitwise_xor", {x, y})), (Values{6, 9, 4, 7}));
      EXPECT_EQ(doubles(call("left_shift", {tensor(d, {1, 5}), tensor(d, {3, 1})})),
                (Values{8, 10}));
      EXPECT_EQ(doubles(call("right_shift", {x, tensor(d, {2, 1, 0, 3})})), (Values{3, 5, 5, 0}));
      EXPECT_EQ(doubles(call("invert", {call("invert", {x})})), doubles(x));
    }
  });
}

TEST(Bits, ShiftsOutsideTheWidthAreHeldAtTheLimits) {
  for (DType d : all_of(kInts)) {
    const Tensor y = tensor(d, {100, 1});
    const double top = std::ldexp(1.0, static_cast<int>(size_of(d)) * 8 - 1);
    EXPECT_EQ(doubles(call("left_shift", {tensor(d, {1, 5}), y})),
              (Values{is_signed(d) ? -top : top, 10}));
    EXPECT_EQ(doubles(call("right_shift", {tensor(d, {100, 5}), y})), (Values{0, 2}));
  }
  const Tensor x = tensor(DType::int32, {-100, 5}), y = tensor(DType::int32, {-1, -7});
  EXPECT_EQ(doubles(call("left_shift", {x, y})), (Values{-100, 5}));
  EXPECT_EQ(doubles(call("right_shift", {x, tensor(DType::int32, {1, 40})})), (Values{-50, 0}));
}

}  // namespace
}  // namespace tidemark
