#include "tidemark/kernels/cpu/arrays/movement_testing.h"

namespace tidemark {
namespace {

using namespace testing;

TEST(BandPart, KeepsTheBand) {
  for (int lower = -1; lower <= 3; ++lower) {
    for (int upper = -1; upper <= 4; ++upper) {
      const Tensor x = iota<float>({2, 3, 4}, 1);
      const Tensor y = call("band_part", {x, Tensor(lower), Tensor(upper)});
      for (int64_t i = 0; i < y.num_elements(); ++i) {
        const Ints at = position(x.shape(), i);
        const bool inside =
            (lower < 0 || at[1] - at[2] <= lower) && (upper < 0 || at[2] - at[1] <= upper);
        ASSERT_EQ(y.data<float>()[i], inside ? x.data<float>()[i] : 0.f);
      }
    }
  }
  expect_invalid(
      [] {
        call("band_part", {iota<float>({2, 2}), Tensor(3), Tensor(0)});
      },
      "num_lower");
  expect_invalid([] { call("band_part", {iota<float>({2}), Tensor(0), Tensor(0)}); }, "2-dim");
}

TEST(Diagonals, TakePutAndMake) {
  const Tensor x = iota<int32_t>({3, 4});
  auto part = [&](int k) { return to_vector<int32_t>(call("diag_part", {x}, {{"k", k}})); };
  EXPECT_EQ(part(0), (std::vector<int32_t>{0, 5, 10}));
  EXPECT_EQ(part(2), (std::vector<int32_t>{2, 7}));
  EXPECT_EQ(part(-1), (std::vector<int32_t>{4, 9}));
  expect_invalid([&] { part(4); }, "k must be in (-3, 4)");
  EXPECT_EQ(to_vector<int32_t>(call("diag", {Tensor::of<int32_t>({1, 2})}, {{"k", 1}})),
            (std::vector<int32_t>{0, 1, 0, 0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(to_vector<int32_t>(call("set_diag", {x, Tensor::of<int32_t>({-1, -2})}, {{"k", -1}})),
            (std::vector<int32_t>{0, 1, 2, 3, -1, 5, 6, 7, 8, -2, 10, 11}));
  expect_invalid([&] { call("set_diag", {x, Tensor::of<int32_t>({1})}); }, "must have shape [3]");
  const int64_t far = (int64_t{1} << 61) + 1;
  EXPECT_EQ(call("diag", {iota<float>({0, 2})}, {{"k", far}}).shape(),
            (Shape{0, far + 2, far + 2}));
  const Tensor batch = call("diag", {iota<float>({2, 2}, 1)});
  EXPECT_EQ(to_vector<float>(batch), (std::vector<float>{1, 0, 0, 2, 3, 0, 0, 4}));
}

}  // namespace
}  // namespace tidemark
