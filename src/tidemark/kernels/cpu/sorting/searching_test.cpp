#include "tidemark/kernels/cpu/arrays/movement_testing.h"

namespace tidemark {
namespace {

using namespace testing;

TEST(Searchsorted, BothSidesAndRows) {
  const Tensor row = Tensor::of<float>({1, 3, 3, 5});
  const Tensor values = Tensor::of<float>({0, 3, 4, 9});
  EXPECT_EQ(to_vector<int32_t>(call("searchsorted", {row, values})),
            (std::vector<int32_t>{0, 1, 3, 4}));
  EXPECT_EQ(to_vector<int64_t>(call("searchsorted", {row, values},
                                    {{"side", "right"}, {"out_type", DType::int64}})),
            (std::vector<int64_t>{0, 3, 3, 4}));
  const Tensor rows = Tensor::of<int32_t>({1, 3, 5, 2, 4, 6}, {2, 3});
  EXPECT_EQ(to_vector<int32_t>(call("searchsorted", {rows, Tensor::of<int32_t>({3, 7}, {2, 1})})),
            (std::vector<int32_t>{1, 3}));
  EXPECT_EQ(call("searchsorted", {row, iota<float>({2, 0})}).shape(), (Shape{2, 0}));
  expect_invalid(
      [&] {
        call("searchsorted", {row, values}, {{"side", "up"}});
      },
      "'right' or 'left'");
  expect_invalid([&] { call("searchsorted", {rows, iota<int32_t>({3, 1})}); }, "Leading dim_size");
}

TEST(InvertPermutation, InvertsAndChecks) {
  EXPECT_EQ(to_vector<int32_t>(call("invert_permutation", {Tensor::of<int32_t>({2, 0, 1})})),
            (std::vector<int32_t>{1, 2, 0}));
  expect_invalid(
      [] {
        call("invert_permutation", {vec({0, 0})});
      },
      "0 is duplicated in the input.");
  expect_invalid([] { call("invert_permutation", {vec({0, 2})}); }, "2 is not between 0 and 2");
  expect_invalid([] { call("invert_permutation", {vec({-1, 0})}); }, "-1 is not between 0 and 2");
}

TEST(Bincount, CountsAndWeighs) {
  const Tensor arr = Tensor::of<int32_t>({1, 1, 2, 7});
  EXPECT_EQ(to_vector<int32_t>(call("bincount", {arr, Tensor(3), iota<int32_t>({0})})),
            (std::vector<int32_t>{0, 2, 1}));
  EXPECT_EQ(
      to_vector<float>(call("bincount", {arr, Tensor(4), Tensor::of<float>({.5f, .25f, 2, 9})})),
      (std::vector<float>{0, .75f, 2, 0}));
  const Tensor rows = Tensor::of<int32_t>({0, 1, 1, 1}, {2, 2});
  EXPECT_EQ(to_vector<int64_t>(call("bincount", {rows, Tensor(2), iota<int64_t>({0})})),
            (std::vector<int64_t>{1, 1, 0, 2}));
  EXPECT_EQ(to_vector<int64_t>(
                call("bincount", {rows, Tensor(2), iota<int64_t>({0})}, {{"binary_output", true}})),
            (std::vector<int64_t>{1, 1, 0, 1}));
  expect_invalid(
      [&] {
        call("bincount", {vec({-1}), Tensor(3), iota<int32_t>({0})});
      },
      "must be non-negative");
}

}  // namespace
}  // namespace tidemark
