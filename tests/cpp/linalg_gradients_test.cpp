// Gradients whose definition takes the input for self-adjoint: compared with differences along
// symmetric directions.
#include <tidemark/call.h>
#include <tidemark/einsum.h>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

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

double weighted_complex(const Tensor& y, const Tensor& weights) {
  double sum = 0;
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    const std::complex<double> v = y.data<std::complex<double>>()[i];
    sum += v.real() * weights.data<double>()[2 * i] + v.imag() * weights.data<double>()[2 * i + 1];
  }
  return sum;
}

/// Pairs of numbers as complex ones.
Tensor as_complex(const Tensor& pairs, const Shape& shape) {
  Tensor t = Tensor::uninitialized(DType::complex128, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const double* pair = pairs.data<double>() + 2 * i;
    t.mutable_data<std::complex<double>>()[i] = {pair[0], pair[1]};
  }
  return t;
}

/// A weighted sum of real and imaginary parts of e and v (with vectors), against differences.
void check_eig(bool vectors) {
  const OpDef& op = OpRegistry::instance().get("eig");
  // Its eigenvalues are a pair of conjugates and a real one.
  const auto matrix = [] {
    return Tensor::of({0.5, -1.2, 0.3, 0.9, 0.4, -0.2, 0.1, 0.6, 2.1}, {kSize, kSize});
  };
  const Tensor a = matrix();
  const std::vector<Attr> attrs{vectors};
  const std::vector<Tensor> y = call_all(op, std::vector{a}, attrs);
  const Tensor for_e = Tensor::of({.3, -.2, .5, .7, .1, -.4}, {2 * kSize});
  // The phase of the vectors is free: what may depend on them is |v|^2, weighted by this.
  const Tensor for_v = Tensor::of({.3, -.2, .5, .7, .1, -.4, .9, -.6, .8}, {kSize, kSize});
  const auto loss = [&](const std::vector<Tensor>& out) {
    double sum = weighted_complex(out[0], for_e);
    for (int64_t i = 0; vectors && i < kSize * kSize; ++i) {
      sum += for_v.data<double>()[i] * std::norm(out[1].data<std::complex<double>>()[i]);
    }
    return sum;
  };
  Tensor dv = Tensor::uninitialized(DType::complex128, y[1].shape());
  for (int64_t i = 0; i < dv.num_elements(); ++i) {
    dv.mutable_data<std::complex<double>>()[i] =
        2 * for_v.data<double>()[i] * y[1].data<std::complex<double>>()[i];
  }
  const std::vector<Tensor> dy{as_complex(for_e, {kSize}), dv};
  const Tensor dx = autodiff::vjp(op, std::vector{a}, attrs, y, dy)[0];
  const double step = 1e-6;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const auto value_at = [&](double by) {
      Tensor moved = matrix();
      moved.mutable_data<double>()[i] += by;
      return loss(call_all(op, std::vector{moved}, attrs));
    };
    EXPECT_NEAR(dx.data<double>()[i], (value_at(step) - value_at(-step)) / (2 * step), 1e-7) << i;
  }
}

TEST(LinalgGradients, EigenvaluesOfGeneralMatrices) { check_eig(false); }
TEST(LinalgGradients, EigenvectorsOfGeneralMatrices) { check_eig(true); }

TEST(LinalgGradients, EighWithoutVectors) {
  const OpDef& op = OpRegistry::instance().get("eigh");
  const Tensor a = positive_definite(), weights = Tensor::of({.3, -.2, .5});
  const std::vector<Attr> attrs{false};
  const std::vector<Tensor> y = call_all(op, std::vector{a}, attrs);
  const std::vector<Tensor> dy{weights, Tensor::uninitialized(DType::float64, {0})};
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
