#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/testing.h"

namespace tidemark {
namespace {

using namespace testing;

std::vector<double> draw(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-4, 4);
  std::vector<double> out(static_cast<size_t>(count));
  for (double& v : out) v = uniform(random);
  return out;
}

double tolerance(DType d) {
  return d == DType::float64   ? 1e-13
         : d == DType::float32 ? 2e-6
         : d == DType::float16 ? 2e-3
                               : 2e-2;
}

TEST(Softmax, AgreesWithTheFormulaForEveryDtypeAndAxis) {
  const Shape shapes[] = {{1}, {5, 37}, {3, 64, 2}, {2, 7, 70}, {4, 1000}};
  for (const DType d : all_of(kFloats)) {
    for (const Shape& shape : shapes) {
      const Tensor x = tensor(d, draw(shape.num_elements(), 3), shape);
      const std::vector<double> in = doubles(x);
      for (int axis = 0; axis < shape.rank(); ++axis) {
        const auto y = doubles(call("softmax", {x}, {{"axis", axis}}));
        const auto logs = doubles(call("log_softmax", {x}, {{"axis", axis}}));
        int64_t inner = 1;
        for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
        for (size_t i = 0; i < in.size(); ++i) {
          const auto at = static_cast<int64_t>(i);
          const int64_t first = at / (shape[axis] * inner) * shape[axis] * inner + at % inner;
          double sum = 0;
          for (int64_t j = 0; j < shape[axis]; ++j) {
            sum += std::exp(in[static_cast<size_t>(first + j * inner)]);
          }
          ASSERT_NEAR(y[i], std::exp(in[i]) / sum, tolerance(d)) << name_of(d) << shape.to_string();
          ASSERT_NEAR(logs[i], in[i] - std::log(sum), 8 * tolerance(d)) << name_of(d);
        }
      }
    }
  }
}

TEST(Softmax, DoesNotDependOnThreads) {
  const Tensor x = tensor(DType::float32, draw(200 * 513, 5), {200, 513});
  const int before = set_num_threads(1);
  const auto alone = doubles(call("softmax", {x}));
  set_num_threads(4);
  EXPECT_EQ(doubles(call("softmax", {x})), alone);
  set_num_threads(before);
}

TEST(Softmax, EmptyAndBadInput) {
  EXPECT_EQ(call("softmax", {tensor(DType::float32, {}, {0, 3})}).shape(), (Shape{0, 3}));
  EXPECT_EQ(call("softmax", {tensor(DType::float32, {}, {3, 0})}).shape(), (Shape{3, 0}));
  EXPECT_THROW(call("softmax", {Tensor(1.f)}), InvalidArgumentError);
  EXPECT_THROW(call("softmax", {tensor(DType::float32, {1, 2})}, {{"axis", 1}}),
               InvalidArgumentError);
}

TEST(CrossEntropy, SparseAndDenseAgree) {
  for (const DType d : all_of(kFloats)) {
    const Tensor x = tensor(d, draw(3 * 37, 1), {3, 37});
    std::vector<double> hot(3 * 37, 0);
    const std::vector<int32_t> labels = {36, 0, 17};
    for (size_t r = 0; r < 3; ++r) hot[r * 37 + static_cast<size_t>(labels[r])] = 1;
    const Tensor dense = tensor(d, hot, {3, 37});
    const Tensor sparse = Tensor::of(std::span<const int32_t>(labels), {3});
    const Tensor a[] = {x, sparse}, b[] = {x, dense};
    const auto first = call_all("sparse_softmax_cross_entropy", a);
    const auto second = call_all("softmax_cross_entropy", b);
    const auto logs = doubles(call("log_softmax", {x}));
    const Tensor dloss = tensor(d, {1, 2, -1});
    const auto dx =
        doubles(call("sparse_softmax_cross_entropy_grad", {x, sparse, first[1], dloss}));
    const auto dz = doubles(call("softmax_cross_entropy_grad", {x, dense, second[1], dloss}));
    for (size_t r = 0; r < 3; ++r) {
      const double expected = -logs[r * 37 + static_cast<size_t>(labels[r])];
      EXPECT_NEAR(doubles(first[0])[r], expected, 10 * tolerance(d));
      EXPECT_NEAR(doubles(second[0])[r], expected, 10 * tolerance(d));
    }
    for (size_t i = 0; i < dx.size(); ++i) {
      EXPECT_NEAR(dx[i], dz[i], tolerance(d));
      const double factor = i / 37 == 0 ? 1 : i / 37 == 1 ? 2 : -1;
      EXPECT_NEAR(dx[i], factor * (std::exp(logs[i]) - hot[i]), 4 * tolerance(d));
    }
  }
}

TEST(CrossEntropy, RefusesBadLabels) {
  const Tensor x = tensor(DType::float32, draw(6, 1), {2, 3});
  for (const int32_t bad : {-1, 3}) {
    const Tensor inputs[] = {x, Tensor::of<int32_t>({0, bad})};
    try {
      call_all("sparse_softmax_cross_entropy", inputs);
      FAIL();
    } catch (const InvalidArgumentError& e) {
      EXPECT_NE(std::string(e.what()).find("outside the valid range of [0, 3)"), std::string::npos);
    }
  }
  const Tensor inputs[] = {x, Tensor::of<int32_t>({0, 1, 2})};
  EXPECT_THROW(call_all("sparse_softmax_cross_entropy", inputs), InvalidArgumentError);
}

TEST(LayerNorm, AgreesWithTheFormulaForEveryDtype) {
  for (const DType d : all_of(kFloats)) {
    const Shape shape{2, 5, 83};
    const Tensor x = tensor(d, draw(shape.num_elements(), 3), shape);
    const Tensor scale = tensor(d, draw(83, 4)), offset = tensor(d, draw(83, 5));
    const Tensor inputs[] = {x, scale, offset}, pair[] = {x, scale};
    const auto y = call_all("layer_norm", inputs, {{"epsilon", 0.1}});
    const auto z = call_all("rms_norm", pair, {{"epsilon", 0.1}});
    const auto in = doubles(x), s = doubles(scale), o = doubles(offset);
    const auto layer = doubles(y[0]), rms = doubles(z[0]);
    for (size_t r = 0; r < 10; ++r) {
      double mean = 0, squares = 0, variance = 0;
      for (size_t j = 0; j < 83; ++j) mean += in[r * 83 + j] / 83;
      for (size_t j = 0; j < 83; ++j) {
        squares += in[r * 83 + j] * in[r * 83 + j] / 83;
        variance += (in[r * 83 + j] - mean) * (in[r * 83 + j] - mean) / 83;
      }
      EXPECT_NEAR(doubles(y[1])[r], mean, 1e-5);
      for (size_t j = 0; j < 83; ++j) {
        const double x_j = in[r * 83 + j];
        ASSERT_NEAR(layer[r * 83 + j], (x_j - mean) / std::sqrt(variance + 0.1) * s[j] + o[j],
                    8 * tolerance(d));
        ASSERT_NEAR(rms[r * 83 + j], x_j / std::sqrt(squares + 0.1) * s[j], 8 * tolerance(d));
      }
    }
  }
}

TEST(LayerNorm, GradientDoesNotDependOnThreadsAndCoversManyRows) {
  const Shape shape{3000, 40};
  const Tensor x = tensor(DType::float32, draw(shape.num_elements(), 3), shape);
  const Tensor ones = tensor(DType::float32, std::vector<double>(40, 1));
  const Tensor inputs[] = {x, ones, ones};
  const auto y = call_all("layer_norm", inputs);
  const Tensor all[] = {x, ones, y[1], y[2], x};
  const int before = set_num_threads(1);
  const auto alone = call_all("layer_norm_grad", all);
  set_num_threads(4);
  const auto together = call_all("layer_norm_grad", all);
  set_num_threads(before);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(doubles(alone[i]), doubles(together[i]));
  const auto sums = doubles(call("sum", {x}, {{"axis", Ints{0}}}));
  const auto doffset = doubles(alone[2]);
  for (size_t j = 0; j < 40; ++j) EXPECT_NEAR(doffset[j], sums[j], 1e-2);
}

TEST(LayerNorm, RefusesScalesThatDoNotFit) {
  const Tensor x = tensor(DType::float32, draw(6, 1), {2, 3});
  const Tensor inputs[] = {x, tensor(DType::float32, {1, 2})};
  EXPECT_THROW(call_all("rms_norm", inputs), InvalidArgumentError);
}

}  // namespace
}  // namespace tidemark
