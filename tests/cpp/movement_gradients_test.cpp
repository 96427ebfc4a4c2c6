// Gradients of the ops that move elements. A linear op f has the right gradient when
// <dy, f(x)> = <f'(dy), x> for any x and dy; small integers make that exact.
#include <gtest/gtest.h>
#include <tidemark/call.h>

#include <random>

#include "tidemark/autodiff/vjp.h"

namespace tidemark {
namespace {

using Named = std::vector<NamedAttr>;

Tensor random_floats(std::mt19937& random, const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(shape.num_elements()));
  for (float& v : values) v = static_cast<float>(static_cast<int>(random() % 19) - 9);
  return Tensor::of(std::span<const float>(values), shape);
}

Tensor ints(std::initializer_list<int64_t> values) { return Tensor::of<int64_t>(values); }
Tensor ints(std::initializer_list<int64_t> values, const Shape& shape) {
  return Tensor::of<int64_t>(values, shape);
}

double inner_product(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape()) << a.shape().to_string() << " " << b.shape().to_string();
  double sum = 0;
  for (int64_t i = 0; i < a.num_elements(); ++i) sum += a.data<float>()[i] * b.data<float>()[i];
  return sum;
}

struct Computed {
  const OpDef& op;
  std::vector<Tensor> inputs;
  std::vector<Attr> attrs;
  std::vector<Tensor> outputs;
};

Computed compute(std::string_view name, const std::vector<Tensor>& inputs, const Named& named) {
  const OpDef& op = OpRegistry::instance().get(name);
  std::vector<Attr> attrs;
  for (int index : op.attrs()) attrs.push_back(op.params()[static_cast<size_t>(index)].fallback);
  for (const NamedAttr& a : named) attrs[static_cast<size_t>(op.attr_index(a.name))] = a.value;
  std::vector<Tensor> outputs = call_all(op, inputs, attrs);
  return {op, inputs, attrs, outputs};
}

/// All float inputs are variables of a function linear in them together.
void check_linear(std::string_view name, const std::vector<Tensor>& inputs,
                  const Named& named = {}) {
  SCOPED_TRACE(name);
  std::mt19937 random(17);
  const Computed r = compute(name, inputs, named);
  std::vector<Tensor> dy;
  double forward = 0;
  for (const Tensor& y : r.outputs) {
    dy.push_back(random_floats(random, y.shape()));
    forward += inner_product(dy.back(), y);
  }
  const std::vector<Tensor> dx = autodiff::vjp(r.op, r.inputs, r.attrs, r.outputs, dy);
  double backward = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype() != DType::float32) continue;
    if (dx[i]) backward += inner_product(dx[i], inputs[i]);
  }
  EXPECT_EQ(forward, backward);
}

class MovementGradients : public ::testing::Test {
 protected:
  Tensor x(const Shape& shape) { return random_floats(random_, shape); }
  std::mt19937 random_{23};
};

TEST_F(MovementGradients, Views) {
  check_linear("reshape", {x({2, 6}), ints({3, 4})});
  check_linear("expand_dims", {x({2, 3})}, {{"axis", 1}});
  check_linear("squeeze", {x({2, 1, 3})});
  check_linear("broadcast_to", {x({3, 1}), ints({2, 3, 4})});
}

TEST_F(MovementGradients, Slices) {
  check_linear("slice", {x({4, 5}), ints({1, 2}), ints({2, -1})});
  check_linear("strided_slice", {x({4, 5, 3}), ints({1, 4, 0}), ints({4, 0, 0}), ints({2, -2, 1})},
               {{"shrink_axis_mask", 4}});
  check_linear("strided_slice_grad", {ints({5}), ints({0}), ints({5}), ints({2}), x({3})});
  check_linear("tensor_strided_slice_update", {x({5}), ints({1}), ints({3}), ints({1}), x({2})});
}

TEST_F(MovementGradients, Joins) {
  check_linear("concat", {x({2, 3}), x({2, 1}), x({2, 2})}, {{"axis", -1}});
  check_linear("stack", {x({2, 3}), x({2, 3})}, {{"axis", 1}});
  check_linear("unstack", {x({2, 3})}, {{"num", 3}, {"axis", 1}});
  check_linear("split", {x({2, 6})}, {{"num", 3}, {"axis", 1}, {"sizes", Ints{1, 2, 3}}});
  check_linear("tile", {x({2, 3}), ints({2, 3})});
  check_linear("tile", {x({}), Tensor::of<int64_t>({}, {0})});
  check_linear("repeat", {x({2, 3}), ints({2, 0, 1})}, {{"axis", 1}});
  check_linear("repeat", {x({2, 3}), Tensor(2)});
}

TEST_F(MovementGradients, Rearrangements) {
  check_linear("transpose", {x({2, 3, 4})}, {{"perm", Ints{1, -1, 0}}});
  check_linear("transpose", {x({2, 3})});
  check_linear("reverse", {x({2, 3})}, {{"axis", Ints{1}}});
  check_linear("roll", {x({4, 3}), ints({1, -2})}, {{"axis", Ints{0, 1}}});
  check_linear("reverse_sequence", {x({2, 4}), ints({3, 2})}, {{"seq_axis", 1}});
  const Tensor zero(0.f);
  check_linear("pad", {x({2, 3}), ints({1, 0, 2, 1}, {2, 2}), zero});
  check_linear("pad", {x({3, 3}), ints({1, 2, 2, 1}, {2, 2}), zero}, {{"mode", "REFLECT"}});
  check_linear("pad", {x({3, 3}), ints({1, 2, 3, 1}, {2, 2}), zero}, {{"mode", "SYMMETRIC"}});
  check_linear("mirror_pad_grad", {x({6}), ints({2, 1}, {1, 2})}, {{"mode", "SYMMETRIC"}});
}

TEST_F(MovementGradients, GathersAndScatters) {
  check_linear("gather", {x({4, 3}), ints({3, 0, 3})});
  check_linear("gather", {x({2, 4, 3}), ints({3, 0, 1, 1}, {2, 2})},
               {{"axis", 1}, {"batch_dims", 1}});
  check_linear("gather", {x({2, 4, 3}), ints({3, 0, 1, 1}, {2, 2})}, {{"axis", 1}});
  check_linear("gather_grad", {ints({1, 1}), x({2, 3}), ints({4, 3})}, {{"axis", 0}});
  check_linear("gather_nd", {x({3, 4}), ints({1, 2, 1, 2}, {2, 2})});
  check_linear("gather_nd", {x({2, 4, 3}), ints({3, 1}, {2, 1})}, {{"batch_dims", 1}});
  check_linear("scatter_nd", {ints({1, 1, 3}, {3, 1}), x({3, 2}), ints({4, 2})});
  check_linear("tensor_scatter_nd_add", {x({4}), ints({1, 1}, {2, 1}), x({2})});
  check_linear("tensor_scatter_nd_sub", {x({4}), ints({1, 1}, {2, 1}), x({2})});
  check_linear("tensor_scatter_nd_update", {x({4}), ints({1, 2}, {2, 1}), x({2})});
  check_linear("boolean_mask", {x({3, 2}), Tensor::of<bool>({true, false, true})});
  check_linear("boolean_mask", {x({2, 3}), Tensor::of<bool>({true, false, true})}, {{"axis", 1}});
}

TEST_F(MovementGradients, Segments) {
  check_linear("unsorted_segment_sum", {x({4, 2}), ints({2, 0, -1, 2}), Tensor(3)});
  check_linear("segment_sum", {x({4, 2}), ints({0, 0, 2, 2})});
  check_linear("segment_mean", {x({4, 2}), ints({0, 0, 2, 2})});
}

TEST_F(MovementGradients, MatrixParts) {
  check_linear("band_part", {x({2, 3, 4}), Tensor(1), Tensor(0)});
  check_linear("diag", {x({2, 3})}, {{"k", -1}});
  check_linear("diag_part", {x({3, 4})}, {{"k", 1}});
  check_linear("set_diag", {x({3, 4}), x({3})});
}

/// Piecewise linear with f(c x) = c f(x): <dy, f(x)> = <f'(dy), x> holds there too.
TEST_F(MovementGradients, OrderAndExtremes) {
  const Tensor distinct = Tensor::of<float>({5, -3, 9, 2, 7, -8, 1, 4, 6, -1, 3, 8}, {3, 4});
  check_linear("sort", {distinct});
  check_linear("sort", {distinct}, {{"axis", 0}, {"direction", "DESCENDING"}});
  check_linear("unsorted_segment_max", {distinct, ints({1, 0, 1}), Tensor(2)});
  check_linear("segment_min", {distinct, ints({0, 0, 1})});
  check_linear("tensor_scatter_nd_max",
               {x({4}), ints({1, 2}, {2, 1}), Tensor::of<float>({20, -20})});
}

TEST_F(MovementGradients, TopKFlowsThroughTheValues) {
  const Tensor in = Tensor::of<float>({5, -3, 9, 2, 7, -8}, {2, 3});
  const Computed r = compute("top_k", {in, Tensor(2)}, {});
  const Tensor dy = Tensor::of<float>({1, 2, 3, 4}, {2, 2});
  const std::vector<Tensor> given{dy, Tensor()};
  const Tensor dx = autodiff::vjp(r.op, r.inputs, r.attrs, r.outputs, given)[0];
  const auto values = dx.values<float>();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()),
            (std::vector<float>{2, 0, 1, 4, 3, 0}));
}

TEST_F(MovementGradients, ProductsWithZeros) {
  const Tensor in = Tensor::of<float>({2, 3, 0, 5, 0, 0});
  const Computed r = compute("segment_prod", {in, ints({0, 0, 1, 1, 2, 2})}, {});
  const std::vector<Tensor> dy{Tensor::of<float>({1, 1, 1})};
  const Tensor dx = autodiff::vjp(r.op, r.inputs, r.attrs, r.outputs, dy)[0];
  const auto values = dx.values<float>();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()),
            (std::vector<float>{3, 2, 5, 0, 0, 0}));
}

TEST_F(MovementGradients, Linspace) {
  check_linear("linspace", {x({2}), x({2}), Tensor(3)}, {{"axis", -1}});
}

}  // namespace
}  // namespace tidemark
