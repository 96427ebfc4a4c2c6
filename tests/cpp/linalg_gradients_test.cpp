// Gradients whose definition takes the input for self-adjoint: compared with differences along
// symmetric directions.
#include <tidemark/call.h>
#include <tidemark/einsum.h>

#include <gtest/gtest.h>

#include <cmath>

#include "tidemark/autodiff/vjp.h"

namespace tidemark {
namespace {

constexpr int64_t kSize = 3;

Tensor positive_definite() {
  Tensor t = Tensor::uninitialized(DType::float64, {kSize, kSize});
  for (int64_t i = 0; i < kSize; ++i) {
    for (int64_t j = 0; j < kSize; ++j) {
      t.mutable_data<double>()[i * kSize + j] =
          (i == j ? 3 : 0) + 1 / (1.0 + static_cast<double>(i + j));
    }
  }
  return t;
}

double weighted(const Tensor& y, const Tensor& weights) {
  double sum = 0;
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    sum += y.data<double>()[i] * weights.data<double>()[i];
  }
  return sum;
}

TEST(LinalgGradients, CholeskyAlongSymmetricDirections) {
  const OpDef& op = OpRegistry::instance().get("cholesky");
  const Tensor a = positive_definite();
  const Tensor weights = Tensor::of({.3, -.2, .5, .7, .1, -.4, .9, -.6, .8}, {kSize, kSize});
  const std::vector<Tensor> y = call_all(op, std::vector{a});
  const Tensor dx = autodiff::vjp(op, std::vector{a}, {}, y, std::vector{weights})[0];
  const double step = 1e-6;
  for (int64_t i = 0; i < kSize; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const auto value_at = [&](double by) {
        Tensor moved = positive_definite();
        moved.mutable_data<double>()[i * kSize + j] += by;
        if (i != j) moved.mutable_data<double>()[j * kSize + i] += by;
        return weighted(call("cholesky", {moved}), weights);
      };
      const double numeric = (value_at(step) - value_at(-step)) / (2 * step);
      const double* d = dx.data<double>();
      const double along = i == j ? d[i * kSize + i] : d[i * kSize + j] + d[j * kSize + i];
      EXPECT_NEAR(along, numeric, 1e-7) << i << ", " << j;
      EXPECT_DOUBLE_EQ(d[i * kSize + j], d[j * kSize + i]);
    }
  }
}

TEST(LinalgGradients, SvdWithoutVectors) {
  const OpDef& op = OpRegistry::instance().get("svd");
  const Tensor a = positive_definite(), weights = Tensor::of({.3, -.2, .5});
  const std::vector<Attr> attrs{false, false};
  const std::vector<Tensor> y = call_all(op, std::vector{a}, attrs);
  const Tensor empty = Tensor::uninitialized(DType::float64, {0});
  const std::vector<Tensor> dy{weights, empty, empty};
  const Tensor dx = autodiff::vjp(op, std::vector{a}, attrs, y, dy)[0];
  const double step = 1e-6;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const auto value_at = [&](double by) {
      Tensor moved = positive_definite();
      moved.mutable_data<double>()[i] += by;
      return weighted(call_all(op, std::vector{moved}, attrs)[0], weights);
    };
    EXPECT_NEAR(dx.data<double>()[i], (value_at(step) - value_at(-step)) / (2 * step), 1e-7) << i;
  }
}

TEST(Einsum, IsMadeOfOps) {
  const Tensor a = Tensor::of({1., 2., 3., 4., 5., 6.}, {2, 3});
  const Tensor b = Tensor::of({1., 0., 2., 1., 0., 3.}, {3, 2});
  const Tensor y = einsum("ij,jk->ki", {a, b});
  const std::vector<double> expected{5, 14, 11, 23};
  EXPECT_EQ(y.shape(), (Shape{2, 2}));
  EXPECT_EQ(std::vector<double>(y.values<double>().begin(), y.values<double>().end()), expected);
  EXPECT_EQ(einsum("ij,ij->", {a, a}).item<double>(), 91);
  EXPECT_THROW(einsum("ij,jk->ik", {a, a}), InvalidArgumentError);
}

}  // namespace
}  // namespace tidemark
