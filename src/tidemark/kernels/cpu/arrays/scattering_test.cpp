#include "tidemark/kernels/cpu/arrays/movement_testing.h"

namespace tidemark {
namespace {

using namespace testing;

Tensor points(std::initializer_list<int32_t> values, const Shape& shape) {
  return Tensor::of<int32_t>(values, shape);
}

TEST(ScatterNd, AddsDuplicates) {
  const Tensor y =
      call("scatter_nd", {points({1, 3, 1}, {3, 1}), Tensor::of<float>({1, 2, 4}), vec({5})});
  EXPECT_EQ(to_vector<float>(y), (std::vector<float>{0, 5, 0, 2, 0}));
  const Tensor rows =
      call("scatter_nd", {points({2, 0}, {2, 1}), iota<int32_t>({2, 2}, 1), vec({3, 2})});
  EXPECT_EQ(to_vector<int32_t>(rows), (std::vector<int32_t>{3, 4, 0, 0, 1, 2}));
  const Tensor truth =
      call("scatter_nd", {points({0}, {1, 1}), Tensor::of<bool>({true}), vec({3})});
  EXPECT_EQ(to_vector<bool>(truth), (std::vector<bool>{true, false, false}));
}

TEST(ScatterNd, IsTheInverseOfGatherNd) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    const Shape shape{4, 3, 5};
    const auto depth = static_cast<int>(random() % 4);
    std::vector<int32_t> indices;
    for (int i = 0; i < 6 * depth; ++i) {
      indices.push_back(static_cast<int32_t>(random() % static_cast<uint64_t>(shape[i % depth])));
    }
    const Tensor at = Tensor::of(std::span<const int32_t>(indices), Shape{6, depth});
    Shape slices{6};
    for (int i = depth; i < 3; ++i) slices.push_back(shape[i]);
    const Tensor updates = iota<double>(slices, 1);
    const Tensor y = call("scatter_nd", {at, updates, vec({4, 3, 5})});
    std::vector<double> expected(60, 0.);
    const int64_t inner = updates.num_elements() / 6;
    for (int64_t p = 0; p < 6; ++p) {
      int64_t row = 0;
      for (int d = 0; d < depth; ++d)
        row = row * shape[d] + indices[static_cast<size_t>(p * depth + d)];
      for (int64_t i = 0; i < inner; ++i) {
        expected[static_cast<size_t>(row * inner + i)] += updates.data<double>()[p * inner + i];
      }
    }
    ASSERT_EQ(to_vector<double>(y), expected) << "round " << round;
  }
}

TEST(ScatterNd, RefusesBadPositionsOrIgnoresThem) {
  const Tensor at = points({5}, {1, 1});
  const Tensor one = Tensor::of<float>({1});
  expect_invalid(
      [&] {
        call("scatter_nd", {at, one, vec({3})});
      },
      "indices[0] = [5] does not index into");
  const Tensor y = call("scatter_nd", {at, one, vec({3})}, {{"bad_indices_policy", "IGNORE"}});
  EXPECT_EQ(to_vector<float>(y), (std::vector<float>{0, 0, 0}));
  expect_invalid(
      [&] {
        call("scatter_nd", {at, one, vec({3})}, {{"bad_indices_policy", "X"}});
      },
      "bad_indices_policy");
  expect_invalid(
      [&] {
        call("scatter_nd", {at, one, vec({3, 2})});
      },
      "updates must have shape [1,2]");
  expect_invalid([&] { call("scatter_nd", {at, one, vec({-3})}); }, "negative");
  expect_invalid([&] { call("scatter_nd", {at, one, vec({int64_t{1} << 62, 8})}); }, "2^63 - 1");
}

TEST(TensorScatter, EveryCombination) {
  const Tensor x = Tensor::of<int32_t>({10, 20, 30});
  const Tensor at = points({0, 2, 0}, {3, 1});
  const Tensor updates = Tensor::of<int32_t>({5, 50, 7});
  auto scatter = [&](const char* how) {
    return to_vector<int32_t>(call(std::string("tensor_scatter_nd_") + how, {x, at, updates}));
  };
  EXPECT_EQ(scatter("update"), (std::vector<int32_t>{7, 20, 50}));
  EXPECT_EQ(scatter("add"), (std::vector<int32_t>{22, 20, 80}));
  EXPECT_EQ(scatter("sub"), (std::vector<int32_t>{-2, 20, -20}));
  EXPECT_EQ(scatter("min"), (std::vector<int32_t>{5, 20, 30}));
  EXPECT_EQ(scatter("max"), (std::vector<int32_t>{10, 20, 50}));
  EXPECT_EQ(to_vector<int32_t>(x), (std::vector<int32_t>{10, 20, 30}));
}

TEST(TensorScatter, HalvesAndComplexNumbers) {
  const Tensor at = points({0, 0}, {2, 1});
  const Tensor h = call("tensor_scatter_nd_add", {Tensor::of<Half>({Half(1.f)}), at,
                                                  Tensor::of<Half>({Half(2.f), Half(0.5f)})});
  EXPECT_EQ(static_cast<float>(h.data<Half>()[0]), 3.5f);
  using C = std::complex<double>;
  const Tensor c = call("tensor_scatter_nd_sub",
                        {Tensor::of<C>({C(1, 1)}), at, Tensor::of<C>({C(0, 2), C(3, 0)})});
  EXPECT_EQ(c.data<C>()[0], C(-2, -1));
}

TEST(TensorScatter, AnErrorChangesNothing) {
  const Tensor at = points({0, 9}, {2, 1});
  Tensor x = Tensor::of<float>({1, 2});
  const Tensor updates = Tensor::of<float>({5, 6});
  const OpDef& op = OpRegistry::instance().get("tensor_scatter_nd_add");
  const std::vector<Tensor> inputs{x, at, updates};
  x = Tensor();  // now the call may write into its input
  const std::vector<Attr> attrs{Attr("")};
  Tensor out;
  expect_invalid([&] { dispatch({op, inputs, attrs, 1}, {&out, 1}); }, "indices[1] = [9]");
  EXPECT_EQ(to_vector<float>(inputs[0]), (std::vector<float>{1, 2}));
}

TEST(TensorScatter, WritesIntoAnInputThatDies) {
  const Tensor at = points({1}, {1, 1});
  std::vector<Tensor> inputs{iota<float>({1000}), at, Tensor::of<float>({5})};
  const void* where = inputs[0].raw_data();
  const OpDef& op = OpRegistry::instance().get("tensor_scatter_nd_update");
  const std::vector<Attr> attrs{Attr("")};
  Tensor out;
  dispatch({op, inputs, attrs, 1}, {&out, 1});
  EXPECT_EQ(out.raw_data(), where);
  EXPECT_EQ(out.data<float>()[1], 5.f);
}

TEST(GatherNdGrad, ChecksItsBatchDimensions) {
  const Tensor at = points({0, 1}, {2, 1});
  auto put = [&](int64_t batch_dims, const Tensor& shape) {
    call("gather_nd_grad", {at, Tensor::of<float>({1, 2}), shape}, {{"batch_dims", batch_dims}});
  };
  expect_invalid([&] { put(-1, vec({2, 3})); }, "batch_dims must be in [0, 1]");
  expect_invalid([&] { put(2, vec({2, 3})); }, "batch_dims must be in [0, 1]");
  expect_invalid([&] { put(1, vec({3, 3})); }, "batch dimension 0 differs");
}

TEST(GatherGrad, LargeSumsDoNotDependOnThreads) {
  std::mt19937 random(2);
  std::vector<int32_t> at(20000);
  for (auto& i : at) i = static_cast<int32_t>(random() % 37);
  std::vector<float> values(at.size() * 16);
  for (auto& v : values) v = static_cast<float>(random() % 1000) / 7.f;
  const Tensor indices = Tensor::of(std::span<const int32_t>(at), Shape{20000});
  const Tensor dy = Tensor::of(std::span<const float>(values), Shape{20000, 16});
  std::vector<float> expected(37 * 16, 0.f);
  for (size_t i = 0; i < at.size(); ++i) {
    for (size_t j = 0; j < 16; ++j)
      expected[static_cast<size_t>(at[i]) * 16 + j] += values[i * 16 + j];
  }
  const Tensor y = call("gather_grad", {indices, dy, vec({37, 16})}, {{"axis", 0}});
  EXPECT_EQ(to_vector<float>(y), expected);
}

}  // namespace
}  // namespace tidemark
