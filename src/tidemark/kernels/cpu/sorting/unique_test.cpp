#include <limits>
#include <map>

#include "tidemark/kernels/cpu/arrays/movement_testing.h"

namespace tidemark {
namespace {

using namespace testing;

TEST(Unique, InOrderOfFirstAppearance) {
  const auto y = call_all("unique", std::vector{Tensor::of<int32_t>({3, 1, 3, 2, 1})});
  EXPECT_EQ(to_vector<int32_t>(y[0]), (std::vector<int32_t>{3, 1, 2}));
  EXPECT_EQ(to_vector<int32_t>(y[1]), (std::vector<int32_t>{0, 1, 0, 2, 1}));
  const auto counted = call_all("unique_with_counts", std::vector{Tensor::of<int32_t>({3, 1, 3})},
                                {{"out_idx", DType::int64}});
  EXPECT_EQ(to_vector<int32_t>(counted[0]), (std::vector<int32_t>{3, 1}));
  EXPECT_EQ(to_vector<int64_t>(counted[2]), (std::vector<int64_t>{2, 1}));
}

TEST(Unique, Strings) {
  const auto y = call_all(
      "unique", std::vector{strings({"b", "a long one, longer than others", "b", ""}, {4})});
  EXPECT_EQ(to_strings(y[0]),
            (std::vector<std::string>{"b", "a long one, longer than others", ""}));
  EXPECT_EQ(to_vector<int32_t>(y[1]), (std::vector<int32_t>{0, 1, 0, 2}));
}

TEST(Unique, NumbersCompareByValue) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto y = call_all("unique", std::vector{Tensor::of<double>({0., -0., nan, nan})});
  EXPECT_EQ(y[0].num_elements(), 3);
  EXPECT_EQ(to_vector<int32_t>(y[1]), (std::vector<int32_t>{0, 0, 1, 2}));
}

TEST(Unique, ManyValues) {
  std::mt19937 random(6);
  std::vector<int64_t> values(200000);
  for (auto& v : values) v = static_cast<int64_t>(random() % 5000) * 4096;
  const auto y = call_all("unique_with_counts",
                          std::vector{Tensor::of(std::span<const int64_t>(values), Shape{200000})});
  std::map<int64_t, int32_t> numbers;
  std::vector<int32_t> counts;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto [it, is_new] = numbers.try_emplace(values[i], static_cast<int32_t>(counts.size()));
    if (is_new) {
      ASSERT_EQ(y[0].data<int64_t>()[counts.size()], values[i]);
      counts.push_back(0);
    }
    ++counts[static_cast<size_t>(it->second)];
    ASSERT_EQ(y[1].data<int32_t>()[i], it->second);
  }
  EXPECT_EQ(to_vector<int32_t>(y[2]), counts);
}

TEST(Unique, EmptyAndBadInput) {
  const auto y = call_all("unique", std::vector{iota<float>({0})});
  EXPECT_EQ(y[0].shape(), Shape{0});
  EXPECT_EQ(y[1].shape(), Shape{0});
  expect_invalid(
      [] {
        call_all("unique", std::vector{iota<float>({2, 2})});
      },
      "unique expects a 1D vector.");
}

}  // namespace
}  // namespace tidemark
