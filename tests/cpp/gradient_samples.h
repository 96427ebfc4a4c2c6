// Inputs for every op that has a gradient: the list of ops comes from the registry, so an op with a
// gradient and without a sample fails the tests that go through them.
#pragma once

#include <tidemark/call.h>

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>

namespace tidemark {

struct Sample {
  std::vector<Tensor> inputs;
  std::vector<NamedAttr> attrs;
};

/// Distinct values in (low, high), in an order that does not repeat between calls.
inline Tensor values(const Shape& shape, double low = 0.2, double high = 0.9) {
  static std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> draw(low, high);
  std::vector<double> data(static_cast<size_t>(shape.num_elements()));
  for (double& v : data) v = draw(engine);
  return Tensor::of(std::span<const double>(data), shape);
}

inline Tensor ints(std::initializer_list<int32_t> v) { return Tensor::of(v); }

/// Matrices with first, first + step, … added to their diagonal.
inline Tensor with_diagonal(const Shape& shape, double first, double step) {
  Tensor t = values(shape);
  const int64_t rows = shape.dim(-2), columns = shape.dim(-1);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const int64_t row = i / columns % rows;
    if (i % columns == row) {
      t.mutable_data<double>()[i] += first + step * static_cast<double>(row);
    }
  }
  return t;
}
/// Far from singular.
inline Tensor well_conditioned(const Shape& shape) { return with_diagonal(shape, 3, 0); }
/// With singular values and eigenvalues that differ clearly.
inline Tensor spread_out(const Shape& shape) { return with_diagonal(shape, 2, 2); }

/// Samples of ops that are not elementwise, or whose domain is special.
inline const std::multimap<std::string, std::function<Sample()>>& samples() {
  static const std::multimap<std::string, std::function<Sample()>> table = {
#include "gradient_samples.inc"
  };
  return table;
}

inline Sample elementwise_sample(const OpDef& op) {
  Sample s;
  for (size_t i = 0; i < op.inputs().size(); ++i) {
    const bool broadcast = i == 1;
    s.inputs.push_back(values(broadcast ? Shape{3} : Shape{2, 3}));
  }
  return s;
}

inline std::vector<Attr> all_attrs(const OpDef& op, const std::vector<NamedAttr>& named) {
  std::vector<Attr> attrs;
  for (int index : op.attrs()) attrs.push_back(op.params()[static_cast<size_t>(index)].fallback);
  for (const NamedAttr& a : named) attrs[static_cast<size_t>(op.attr_index(a.name))] = a.value;
  return attrs;
}

/// Calls fn(op, sample) for every sample of every op with a gradient; returns how many ops.
template <class Fn>
int for_each_gradient_sample(const Fn& fn) {
  int ops = 0;
  for (const OpDef* op : OpRegistry::instance().all()) {
    if (!op->is_differentiable() || op->is_gradient_missing()) continue;
    // Between real and complex numbers: see complex_gradients_test.cpp.
    if (op->name() == "complex" || op->name() == "imag") continue;
    // The same of transforms: see fft_gradients_test.cpp.
    // By the logits there is none; by the other input: forward_mode_test.cpp, with ctc_loss.
    if (op->name() == "ctc_loss_grad") continue;
    if (op->name() == "cholesky") continue;  // for both triangles: linalg_gradients_test.cpp
    if (op->name() == "eig") continue;       // complex results: linalg_gradients_test.cpp
    // Numbers drawn anew do not follow their parameter smoothly: see tests/python/test_special.py.
    if (op->name() == "random_gamma" || op->name() == "stateless_random_gamma") continue;
    if (op->name() == "fft" || op->name() == "rfft" || op->name() == "irfft") continue;
    const auto [begin, end] = samples().equal_range(op->name());
    if (begin == end) {
      EXPECT_TRUE(op->is_elementwise()) << op->name() << " has a gradient but no sample";
      if (op->is_elementwise()) fn(*op, elementwise_sample(*op));
    }
    for (auto it = begin; it != end; ++it) fn(*op, it->second());
    ++ops;
  }
  return ops;
}

}  // namespace tidemark
