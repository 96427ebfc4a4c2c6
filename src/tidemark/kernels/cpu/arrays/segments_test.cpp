#include <limits>

#include "tidemark/kernels/cpu/arrays/movement_testing.h"

namespace tidemark {
namespace {

using namespace testing;

TEST(UnsortedSegment, EveryReduction) {
  const Tensor data = Tensor::of<float>({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2});
  const Tensor ids = Tensor::of<int32_t>({2, 0, 2, -1});
  auto reduce = [&](const char* how) {
    return to_vector<float>(call(std::string("unsorted_segment_") + how, {data, ids, Tensor(3)}));
  };
  const float most = std::numeric_limits<float>::max();
  EXPECT_EQ(reduce("sum"), (std::vector<float>{3, 4, 0, 0, 6, 8}));
  EXPECT_EQ(reduce("prod"), (std::vector<float>{3, 4, 1, 1, 5, 12}));
  EXPECT_EQ(reduce("max"), (std::vector<float>{3, 4, -most, -most, 5, 6}));
  EXPECT_EQ(reduce("min"), (std::vector<float>{3, 4, most, most, 1, 2}));
}

TEST(UnsortedSegment, IdsOfSeveralDimensions) {
  const Tensor data = iota<int64_t>({2, 3});
  const Tensor ids = Tensor::of<int64_t>({0, 1, 0, 1, 1, 0}, {2, 3});
  EXPECT_EQ(to_vector<int64_t>(call("unsorted_segment_sum", {data, ids, Tensor(2)})),
            (std::vector<int64_t>{0 + 2 + 5, 1 + 3 + 4}));
}

TEST(UnsortedSegment, RefusesBadInput) {
  const Tensor data = Tensor::of<float>({1, 2});
  expect_invalid(
      [&] {
        call("unsorted_segment_sum", {data, vec({0, 5}), Tensor(2)});
      },
      "segment_ids[1] = 5 is out of range [0, 2)");
  expect_invalid(
      [&] {
        call("unsorted_segment_sum", {data, vec({0}), Tensor(2)});
      },
      "does not start with segment_ids.shape");
  expect_invalid(
      [&] {
        call("unsorted_segment_sum", {data, vec({0, 0}), Tensor(-2)});
      },
      "num_segments == -2");
  EXPECT_EQ(call("unsorted_segment_sum", {iota<float>({0, 3}), vec(Ints{}), Tensor(2)}).shape(),
            (Shape{2, 3}));
}

TEST(Segment, EveryReductionWithGaps) {
  const Tensor data = Tensor::of<float>({1, 2, 3, 4}, {4, 1});
  const Tensor ids = Tensor::of<int32_t>({0, 0, 2, 2});
  auto reduce = [&](const char* how) {
    return to_vector<float>(call(std::string("segment_") + how, {data, ids}));
  };
  EXPECT_EQ(reduce("sum"), (std::vector<float>{3, 0, 7}));
  EXPECT_EQ(reduce("mean"), (std::vector<float>{1.5f, 0, 3.5f}));
  EXPECT_EQ(reduce("prod"), (std::vector<float>{2, 1, 12}));
  EXPECT_EQ(reduce("max"), (std::vector<float>{2, 0, 4}));
  EXPECT_EQ(reduce("min"), (std::vector<float>{1, 0, 3}));
  const Tensor whole = call("segment_mean", {Tensor::of<int32_t>({1, 2, 4}), vec({0, 0, 0})});
  EXPECT_EQ(to_vector<int32_t>(whole), std::vector<int32_t>{2});
}

TEST(Segment, RefusesBadIds) {
  const Tensor data = Tensor::of<float>({1, 2});
  expect_invalid(
      [&] {
        call("segment_sum", {data, vec({1, 0})});
      },
      "segment ids are not increasing");
  expect_invalid([&] { call("segment_sum", {data, vec({-1, 0})}); }, "not increasing from 0");
  expect_invalid([&] { call("segment_sum", {data, vec({-3, -2})}); }, ">= 0");
  expect_invalid([&] { call("segment_sum", {data, vec({0})}); }, "same size as dimension 0");
  expect_invalid(
      [&] {
        call("segment_sum", {data, vec({0, std::numeric_limits<int64_t>::max()})});
      },
      "2^63 - 1");
  EXPECT_EQ(call("segment_sum", {iota<float>({0, 2}), vec(Ints{})}).shape(), (Shape{0, 2}));
}

}  // namespace
}  // namespace tidemark
