#include <limits>

#include "tidemark/kernels/cpu/arrays/movement_testing.h"

namespace tidemark {
namespace {

using namespace testing;

template <class T>
std::vector<T> range(T start, T limit, T delta) {
  return to_vector<T>(call("range", {Tensor(start), Tensor(limit), Tensor(delta)}));
}

TEST(Range, IntegersAndReals) {
  EXPECT_EQ(range(0, 5, 2), (std::vector<int32_t>{0, 2, 4}));
  EXPECT_EQ(range(5, 0, -2), (std::vector<int32_t>{5, 3, 1}));
  EXPECT_EQ(range(3, 3, 1), std::vector<int32_t>{});
  EXPECT_EQ(range(0.f, 1.f, 0.25f), (std::vector<float>{0, 0.25f, 0.5f, 0.75f}));
  EXPECT_EQ(range(0.f, 1000.f, 0.1f).size(), 10000u);
  EXPECT_EQ(range(0.f, 1000.f, 0.1f)[5000], 500.f);
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(range(most - 2, most, int64_t{5}), std::vector<int64_t>{most - 2});
}

TEST(Range, LargeInSeveralPieces) {
  const Tensor y =
      call("range", {Tensor(int64_t{7}), Tensor(int64_t{1000007}), Tensor(int64_t{1})});
  ASSERT_EQ(y.num_elements(), 1000000);
  for (int64_t i = 0; i < 1000000; ++i) ASSERT_EQ(y.data<int64_t>()[i], i + 7);
}

TEST(Range, RefusesWhatNeverEnds) {
  expect_invalid([] { range(3, 1, 1); }, "Requires start <= limit when delta > 0: 3/1");
  expect_invalid([] { range(1, 3, -1); }, "Requires start >= limit when delta < 0: 1/3");
  expect_invalid([] { range(0, 3, 0); }, "Requires delta != 0");
  expect_invalid([] { range(0.f, std::numeric_limits<float>::quiet_NaN(), 1.f); }, "finite");
  expect_invalid([] { range(0.f, std::numeric_limits<float>::infinity(), 1.f); }, "finite");
  expect_invalid([] { range(0., 1e300, 1.); }, "2^62");
  const int64_t most = std::numeric_limits<int64_t>::max();
  expect_invalid([&] { range(-most - 1, most, int64_t{1}); }, "2^62");
}

TEST(Linspace, EndsExactly) {
  const Tensor y = call("linspace", {Tensor(0.f), Tensor(0.3f), Tensor(4)});
  ASSERT_EQ(y.shape(), Shape{4});
  EXPECT_EQ(y.data<float>()[0], 0.f);
  EXPECT_EQ(y.data<float>()[3], 0.3f);
  EXPECT_NEAR(y.data<float>()[1], 0.1f, 1e-7);
  const Tensor one = call("linspace", {Tensor(2.f), Tensor(5.f), Tensor(1)});
  EXPECT_EQ(to_vector<float>(one), std::vector<float>{2.f});
  EXPECT_EQ(call("linspace", {Tensor(2.f), Tensor(5.f), Tensor(0)}).shape(), Shape{0});
  expect_invalid([] { call("linspace", {Tensor(2.f), Tensor(5.f), Tensor(-1)}); }, "num");
}

TEST(Linspace, OfTensorsAlongAnyAxis) {
  const Tensor start = Tensor::of<double>({0, 1}), stop = Tensor::of<double>({1, 5});
  const Tensor rows = call("linspace", {start, stop, Tensor(3)});
  EXPECT_EQ(rows.shape(), (Shape{3, 2}));
  EXPECT_EQ(to_vector<double>(rows), (std::vector<double>{0, 1, 0.5, 3, 1, 5}));
  const Tensor columns = call("linspace", {start, stop, Tensor(3)}, {{"axis", -1}});
  EXPECT_EQ(to_vector<double>(columns), (std::vector<double>{0, 0.5, 1, 1, 3, 5}));
}

}  // namespace
}  // namespace tidemark
