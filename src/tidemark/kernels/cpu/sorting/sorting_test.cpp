#include <algorithm>
#include <cmath>
#include <limits>

#include "tidemark/kernels/cpu/arrays/movement_testing.h"

namespace tidemark {
namespace {

using namespace testing;

template <class T>
Tensor random_values(std::mt19937& random, const Shape& shape, int range) {
  std::vector<T> values;
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    values.push_back(static_cast<T>(static_cast<float>(random() % static_cast<unsigned>(range))));
  }
  return Tensor::of(std::span<const T>(values), shape);
}

/// Sorts every line along the axis by std::stable_sort and compares values and positions.
template <class T>
void check_sort(const Tensor& x, int axis, bool descending) {
  const char* direction = descending ? "DESCENDING" : "ASCENDING";
  const Tensor values = call("sort", {x}, {{"axis", axis}, {"direction", direction}});
  const Tensor positions = call("argsort", {x}, {{"axis", axis}, {"direction", direction}});
  ASSERT_EQ(values.shape(), x.shape());
  const int64_t size = x.dim(axis);
  int64_t inner = 1;
  for (int i = axis + 1; i < x.rank(); ++i) inner *= x.dim(i);
  for (int64_t line = 0; line < x.num_elements() / size; ++line) {
    const int64_t start = line / inner * inner * size + line % inner;
    auto at = [&](int64_t i) { return static_cast<double>(x.data<T>()[start + i * inner]); };
    std::vector<int32_t> order(static_cast<size_t>(size));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return descending ? at(a) > at(b) : at(a) < at(b);
    });
    for (int64_t i = 0; i < size; ++i) {
      const int32_t expected = order[static_cast<size_t>(i)];
      ASSERT_EQ(positions.data<int32_t>()[start + i * inner], expected);
      ASSERT_EQ(static_cast<double>(values.data<T>()[start + i * inner]), at(expected));
    }
  }
}

TEST(Sort, AgreesWithStableSortAlongEveryAxis) {
  std::mt19937 random(9);
  for (int axis = 0; axis < 3; ++axis) {
    for (bool descending : {false, true}) {
      check_sort<float>(random_values<float>(random, {7, 11, 5}, 6), axis, descending);
      check_sort<int64_t>(random_values<int64_t>(random, {3, 4, 50}, 30), axis, descending);
      check_sort<uint8_t>(random_values<uint8_t>(random, {6, 2, 9}, 200), axis, descending);
      check_sort<int16_t>(random_values<int16_t>(random, {6, 2, 9}, 200), axis, descending);
    }
  }
  check_sort<double>(random_values<double>(random, {100000}, 1 << 30), 0, false);
  check_sort<int32_t>(random_values<int32_t>(random, {100000}, 1000), 0, true);
}

TEST(Sort, NanComesLast) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = Tensor::of<float>({1, nan, 3, -1});
  const Tensor up = call("sort", {x});
  EXPECT_TRUE(std::isnan(up.data<float>()[3]));
  EXPECT_EQ(up.data<float>()[0], -1.f);
  const Tensor down = call("sort", {x}, {{"direction", "DESCENDING"}});
  EXPECT_TRUE(std::isnan(down.data<float>()[3]));
  EXPECT_EQ(down.data<float>()[0], 3.f);
  EXPECT_EQ(to_vector<int32_t>(call("argsort", {x})), (std::vector<int32_t>{3, 0, 2, 1}));
}

TEST(Sort, HalvesAndEmptyAndBadInput) {
  const Tensor h = call("sort", {Tensor::of<Half>({Half(2.f), Half(-1.f), Half(0.5f)})});
  EXPECT_EQ(static_cast<float>(h.data<Half>()[0]), -1.f);
  EXPECT_EQ(call("sort", {iota<float>({0, 3})}, {{"axis", 0}}).shape(), (Shape{0, 3}));
  expect_invalid([] { call("sort", {iota<float>({3})}, {{"axis", 1}}); }, "[-1, 1)");
  expect_invalid([] { call("sort", {iota<float>({3})}, {{"direction", "UP"}}); }, "DESCENDING");
  expect_invalid([] { call("sort", {Tensor(1.f)}); }, "at least one dimension");
}

TEST(TopK, LargestFirstAndOfEqualOnesTheFirst) {
  const Tensor x = Tensor::of<int32_t>({1, 3, 3, 2, 3, 9, 0, 0, 0, 8}, {2, 5});
  const auto y = call_all("top_k", std::vector{x, Tensor(3)});
  EXPECT_EQ(to_vector<int32_t>(y[0]), (std::vector<int32_t>{3, 3, 3, 9, 8, 0}));
  EXPECT_EQ(to_vector<int32_t>(y[1]), (std::vector<int32_t>{1, 2, 4, 0, 4, 1}));
  const auto wide = call_all("top_k", std::vector{x, Tensor(1)}, {{"index_type", DType::int64}});
  EXPECT_EQ(to_vector<int64_t>(wide[1]), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(call_all("top_k", std::vector{x, Tensor(0)})[0].shape(), (Shape{2, 0}));
  expect_invalid(
      [&] {
        call_all("top_k", std::vector{x, Tensor(6)});
      },
      "input must have at least k columns. Had 5, needed 6");
  expect_invalid([&] { call_all("top_k", std::vector{x, Tensor(-1)}); }, "Need k >= 0, got -1");
}

TEST(TopK, AgreesWithSort) {
  std::mt19937 random(4);
  const Tensor x = random_values<float>(random, {50, 300}, 1000);
  const Tensor sorted = call("sort", {x}, {{"direction", "DESCENDING"}});
  const Tensor order = call("argsort", {x}, {{"direction", "DESCENDING"}});
  for (int k : {1, 7, 300}) {
    const auto y = call_all("top_k", std::vector{x, Tensor(k)});
    for (int64_t r = 0; r < 50; ++r) {
      for (int64_t i = 0; i < k; ++i) {
        ASSERT_EQ(y[0].data<float>()[r * k + i], sorted.data<float>()[r * 300 + i]);
        ASSERT_EQ(y[1].data<int32_t>()[r * k + i], order.data<int32_t>()[r * 300 + i]);
      }
    }
  }
}

TEST(InTopK, TiesCountAsIn) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor predictions = Tensor::of<float>({1, 1, 1, 2, inf, 0, 3, 4}, {4, 2});
  const Tensor y = call("in_top_k", {Tensor::of<int32_t>({0, 0, 0, 7}), predictions}, {{"k", 1}});
  EXPECT_EQ(to_vector<bool>(y), (std::vector<bool>{true, false, false, false}));
}

}  // namespace
}  // namespace tidemark
