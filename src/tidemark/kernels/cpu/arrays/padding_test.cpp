#include "tidemark/kernels/cpu/arrays/movement_testing.h"

namespace tidemark {
namespace {

using namespace testing;

Tensor paddings(std::initializer_list<int32_t> values) {
  return Tensor::of<int32_t>(values, {static_cast<int64_t>(values.size()) / 2, 2});
}

TEST(Pad, ConstantOfEveryElementSize) {
  for (DType dtype :
       {DType::uint8, DType::bfloat16, DType::int32, DType::float64, DType::complex128}) {
    const Tensor x = numbered(dtype, {2, 3, 2}), value = numbered(dtype, {}, 999);
    const Tensor y = call("pad", {x, paddings({1, 0, 2, 1, 0, 3}), value});
    ASSERT_EQ(y.shape(), (Shape{3, 6, 5}));
    for (int64_t i = 0; i < y.num_elements(); ++i) {
      Ints at = position(y.shape(), i);
      at[0] -= 1;
      at[1] -= 2;
      const bool inside = at[0] >= 0 && at[1] >= 0 && at[1] < 3 && at[2] < 2;
      ASSERT_EQ(element(y, i), inside ? element(x, flat_index(x.shape(), at)) : element(value, 0));
    }
  }
}

TEST(Pad, Mirrors) {
  const Tensor x = Tensor::of<int32_t>({1, 2, 3});
  const Tensor none(0);
  auto pad = [&](const char* mode, int before, int after) {
    return to_vector<int32_t>(call("pad", {x, paddings({before, after}), none}, {{"mode", mode}}));
  };
  EXPECT_EQ(pad("REFLECT", 2, 2), (std::vector<int32_t>{3, 2, 1, 2, 3, 2, 1}));
  EXPECT_EQ(pad("SYMMETRIC", 3, 2), (std::vector<int32_t>{3, 2, 1, 1, 2, 3, 3, 2}));
  const Tensor m = iota<int32_t>({2, 2});
  EXPECT_EQ(
      to_vector<int32_t>(call("pad", {m, paddings({1, 1, 1, 0}), none}, {{"mode", "reflect"}})),
      (std::vector<int32_t>{3, 2, 3, 1, 0, 1, 3, 2, 3, 1, 0, 1}));
}

TEST(Pad, StringsAndEmptyTensors) {
  const Tensor y = call("pad", {strings({"a", "bb"}, {2}), paddings({1, 1}), strings({"xyz"}, {})});
  EXPECT_EQ(to_strings(y), (std::vector<std::string>{"xyz", "a", "bb", "xyz"}));
  const Tensor filled = call("pad", {iota<float>({0}), paddings({1, 2}), Tensor(7.f)});
  EXPECT_EQ(to_vector<float>(filled), (std::vector<float>{7, 7, 7}));
}

TEST(Pad, RefusesBadPaddings) {
  const Tensor x = iota<float>({2});
  const Tensor zero(0.f);
  expect_invalid(
      [&] {
        call("pad", {x, paddings({-1, 0}), zero});
      },
      "Paddings must be non-negative: -1 0");
  expect_invalid([&] { call("pad", {x, paddings({0, 0, 0, 0}), zero}); }, "2 columns");
  expect_invalid(
      [&] {
        call("pad", {x, paddings({2, 0}), zero}, {{"mode", "REFLECT"}});
      },
      "no greater than 1");
  expect_invalid(
      [&] {
        call("pad", {x, paddings({0, 3}), zero}, {{"mode", "SYMMETRIC"}});
      },
      "no greater than 2");
  expect_invalid(
      [&] {
        call("pad", {x, paddings({0, 0}), zero}, {{"mode", "EDGE"}});
      },
      "mode must be");
  const Tensor huge = Tensor::of<int64_t>({int64_t{1} << 62, int64_t{1} << 62}, {1, 2});
  expect_invalid([&] { call("pad", {x, huge, zero}); }, "2^63 - 1");
}

}  // namespace
}  // namespace tidemark
