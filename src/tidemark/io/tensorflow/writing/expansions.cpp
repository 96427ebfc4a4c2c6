// Ops of ours that are several of TensorFlow's: each by means of ops that have a form there.
#include <tidemark/call.h>
#include <tidemark/create.h>
#include <tidemark/ops.h>

#include <cmath>
#include <numbers>

#include "tidemark/io/tensorflow/writing/node_writer.h"

namespace tidemark::io::tensorflow {

namespace {

using graph::Node;
using Tensors = std::span<const Tensor>;
using Made = std::vector<Tensor>;

Tensor number(double value, DType dtype) { return cast(Tensor(value), dtype); }
Tensor like(double value, const Tensor& x) { return number(value, x.dtype()); }
double real(const Node& node, const char* name) { return attr_of_node(node, name).as_real(); }
bool flag(const Node& node, const char* name) { return attr_of_node(node, name).as_bool(); }
Tensor reduced(const char* op, const Tensor& x, const Attr& axis, bool keepdims) {
  return call(op, {x}, {{"axis", axis}, {"keepdims", keepdims}});
}
Attr last_axis() { return Ints{-1}; }

Made gelu_(const Node& node, Tensors x) {
  const Tensor half = like(0.5, x[0]) * x[0];
  if (!flag(node, "approximate")) {
    return {half * (like(1, x[0]) + erf(x[0] * like(std::numbers::sqrt2 / 2, x[0])))};
  }
  const Tensor cubed = like(0.044715, x[0]) * x[0] * x[0] * x[0];
  const Tensor inner = like(std::sqrt(2 / std::numbers::pi), x[0]) * (x[0] + cubed);
  return {half * (like(1, x[0]) + tanh(inner))};
}

Made swish_(const Node& node, Tensors x) {
  return {x[0] * sigmoid(x[0] * like(real(node, "beta"), x[0]))};
}
Made log_sigmoid_(const Node&, Tensors x) { return {-softplus(-x[0])}; }
Made logical_xor_(const Node&, Tensors x) {
  return {logical_and(logical_or(x[0], x[1]), logical_not(logical_and(x[0], x[1])))};
}

Tensor summed_exp(const Tensor& x, const Attr& axis, bool keepdims) {
  Tensor highest = reduced("max", x, axis, true);
  highest = select(is_finite(highest), highest, zeros_like(highest));
  const Tensor out = log(reduced("sum", exp(x - highest), axis, true)) + highest;
  // Each axis has one element.
  return keepdims ? out : reduced("sum", out, axis, false);
}
Made logsumexp_(const Node& node, Tensors x) {
  return {summed_exp(x[0], attr_of_node(node, "axis"), flag(node, "keepdims"))};
}

Tensor spread(const Tensor& x, const Attr& axis, bool keepdims) {
  const Tensor mean = reduced("mean", x, axis, true);
  return reduced("mean", squared_difference(x, mean), axis, keepdims);
}
Made variance_(const Node& node, Tensors x) {
  return {spread(x[0], attr_of_node(node, "axis"), flag(node, "keepdims"))};
}
Made std_(const Node& node, Tensors x) {
  return {sqrt(spread(x[0], attr_of_node(node, "axis"), flag(node, "keepdims")))};
}

/// Of another axis than the last, which is moved there and back.
Made moved_softmax(const Node& node, Tensors x) {
  const Shape& shape = x[0].shape();
  if (!shape.has_rank()) return {};
  const int64_t rank = shape.rank(), given = attr_of_node(node, "axis").as_int();
  const int64_t axis = given < 0 ? given + rank : given;
  Ints order;
  for (int64_t i = 0; i < rank; ++i) order.push_back(i);
  std::swap(order[static_cast<size_t>(axis)], order.back());  // its own inverse
  const Tensor there = transpose(x[0], order);
  return {transpose(call(node.op->name(), {there}, {{"axis", -1}}), order)};
}

Made softmax_grad_(const Node& node, Tensors x) {
  const Attr axis = Ints{attr_of_node(node, "axis").as_int()};
  return {(x[0] - reduced("sum", x[0] * x[1], axis, true)) * x[1]};
}
Made log_softmax_grad_(const Node& node, Tensors x) {
  const Attr axis = Ints{attr_of_node(node, "axis").as_int()};
  return {x[0] - exp(x[1]) * reduced("sum", x[0], axis, true)};
}
/// (logits, labels, log of the sum, gradient of the loss)
Made cross_entropy_grad(const Node&, Tensors x) {
  return {(softmax(x[0]) - x[1]) * expand_dims(x[3], -1)};
}
Made sparse_cross_entropy_grad(const Node&, Tensors x) {
  const Tensor classes = gather(shape(x[0]), Tensor(-1 + x[0].shape().rank()));
  const Tensor hot = call("one_hot", {x[1], classes, like(1, x[0]), like(0, x[0])}, {{"axis", -1}});
  return {(softmax(x[0]) - hot) * expand_dims(x[3], -1)};
}

Made batch_norm_(const Node& node, Tensors x) {
  const Tensor &scale = x[1], &offset = x[2];
  if (!x[0].shape().has_rank()) return {};
  Ints axes;
  for (int i = 0; i + 1 < x[0].shape().rank(); ++i) axes.push_back(i);
  const Tensor wide = x[0].dtype() == scale.dtype() ? x[0] : cast(x[0], scale.dtype());
  const Tensor mean = reduced("mean", wide, axes, false), variance = spread(wide, axes, false);
  const Tensor by = rsqrt(variance + like(real(node, "epsilon"), variance)) * scale;
  const Tensor out = (wide - mean) * by + offset;
  return {x[0].dtype() == scale.dtype() ? out : cast(out, x[0].dtype()), mean, variance};
}

Made layer_norm_(const Node& node, Tensors x) {
  const Tensor mean = reduced("mean", x[0], last_axis(), true);
  const Tensor variance = spread(x[0], last_axis(), true);
  const Tensor rstd = rsqrt(variance + like(real(node, "epsilon"), variance));
  return {(x[0] - mean) * rstd * x[1] + x[2], reduced("sum", mean, last_axis(), false),
          reduced("sum", rstd, last_axis(), false)};
}

Made rms_norm_(const Node& node, Tensors x) {
  const Tensor squares = reduced("mean", square(x[0]), last_axis(), true);
  const Tensor rstd = rsqrt(squares + like(real(node, "epsilon"), squares));
  return {x[0] * rstd * x[1], reduced("sum", rstd, last_axis(), false)};
}

/// (query, key, value, mask)
Made attention_(const Node& node, Tensors x) {
  const Tensor product = matmul(x[0], x[1], {.transpose_b = true});
  Tensor scores = product * like(real(node, "scale"), product);
  const double lowest = scores.dtype() == DType::float16 ? -32752 : -1.7e38;
  const Tensor low = like(lowest, scores);
  if (flag(node, "causal")) {
    const Tensor sizes = shape(scores);
    const int64_t rank = scores.shape().rank();
    const Tensor rows = gather(sizes, Tensor(rank - 2)), columns = gather(sizes, Tensor(rank - 1));
    const Tensor last = expand_dims(call("range", {Tensor(0), rows, Tensor(1)}), -1);
    const Tensor seen =
        less_equal(call("range", {Tensor(0), columns, Tensor(1)}), last + (columns - rows));
    scores = select(seen, scores, low);
  }
  if (!x[3].shape().has_rank() || x[3].shape().rank() != 0) scores = select(x[3], scores, low);
  return {matmul(softmax(scores), x[2]), summed_exp(scores, last_axis(), false)};
}

Made boolean_mask_(const Node& node, Tensors x) {
  const Attr& axis = attr_of_node(node, "axis");
  const Tensor at = squeeze(call("nonzero", {x[1]}), Ints{1});
  return {call("gather", {x[0], at}, {{"axis", axis.is_none() ? Attr(0) : axis}})};
}

Made zeros_of_dtype(const Node& node, Tensors x) {
  return {zeros_like(cast(x[0], attr_of_node(node, "dtype").as_dtype()))};
}
Made ones_of_dtype(const Node& node, Tensors x) {
  return {ones_like(cast(x[0], attr_of_node(node, "dtype").as_dtype()))};
}
Made only_one(const Node&, Tensors x) { return {identity(x[0])}; }

/// Numbers of the only spatial axis of rows, which may stand between those of batch and channels.
int64_t of_rows(const Node& node, const char* name) {
  const Attr& given = attr_of_node(node, name);
  if (given.is_none() || given.as_ints().empty()) return 1;
  const Ints& values = given.as_ints();
  return values.size() == 1 ? values[0] : values[values.size() / 2];
}
/// Of rows as of pictures one row high.
std::vector<NamedAttr> as_picture(const Node& node) {
  const std::string& padding = attr_of_node(node, "padding").as_string();
  Ints edges;
  if (padding == "EXPLICIT") {
    const Ints& given = attr_of_node(node, "explicit_paddings").as_ints();
    edges = {0, 0, 0, 0, 0, 0, 0, 0};
    const size_t at = given.size() > 2 ? 2 : 0;
    edges[4] = given.at(at);
    edges[5] = given.at(at + 1);
  }
  return {{"strides", Ints{1, of_rows(node, "strides")}},
          {"dilations", Ints{1, of_rows(node, "dilations")}},
          {"padding", padding},
          {"explicit_paddings", edges}};
}
Attr value_of(std::span<const NamedAttr> all, std::string_view name) {
  for (const NamedAttr& one : all) {
    if (one.name == name) return one.value;
  }
  return {};
}
Tensor called(std::string_view op, Tensors x, std::span<const NamedAttr> given) {
  const OpDef& def = OpRegistry::instance().get(op);
  std::vector<Attr> attrs;
  for (const int index : def.attrs()) {
    const Param& param = def.params()[static_cast<size_t>(index)];
    const Attr value = value_of(given, param.name);
    attrs.push_back(value.is_none() ? param.fallback : value);
  }
  return call(def, x, attrs);
}
Made convolution_of_rows(const Node& node, Tensors x) {
  if (!x[1].shape().has_rank() || x[1].shape().rank() != 3) return {};
  const Tensor pictures[] = {expand_dims(x[0], 1), expand_dims(x[1], 0)};
  return {squeeze(called("convolution", pictures, as_picture(node)), Ints{1})};
}
Made pool_of_rows(const Node& node, Tensors x) {
  if (!x[0].shape().has_rank() || x[0].shape().rank() != 3) return {};
  if (attr_of_node(node, "padding").as_string() == "EXPLICIT") return {};
  std::vector<NamedAttr> attrs = as_picture(node);
  attrs.push_back({"ksize", Ints{1, of_rows(node, "ksize")}});
  const Tensor picture = expand_dims(x[0], 1);
  return {squeeze(called(node.op->name(), {&picture, 1}, attrs), Ints{1})};
}

struct NamedExpansion {
  std::string_view op;
  NodeWriter::Expansion make;
};
// op names: what TensorFlow has no one op for, or none for these attributes.
constexpr NamedExpansion kExpansions[] = {
    {"attention", attention_},
    {"avg_pool", pool_of_rows},
    {"batch_norm", batch_norm_},
    {"boolean_mask", boolean_mask_},
    {"concat", only_one},
    {"convolution", convolution_of_rows},
    {"gelu", gelu_},
    {"layer_norm", layer_norm_},
    {"log_sigmoid", log_sigmoid_},
    {"log_softmax", moved_softmax},
    {"log_softmax_grad", log_softmax_grad_},
    {"logical_xor", logical_xor_},
    {"logsumexp", logsumexp_},
    {"max_pool", pool_of_rows},
    {"ones_like", ones_of_dtype},
    {"rms_norm", rms_norm_},
    {"softmax", moved_softmax},
    {"softmax_cross_entropy_grad", cross_entropy_grad},
    {"softmax_grad", softmax_grad_},
    {"sparse_softmax_cross_entropy_grad", sparse_cross_entropy_grad},
    {"std", std_},
    {"swish", swish_},
    {"variance", variance_},
    {"zeros_like", zeros_of_dtype},
};

}  // namespace

NodeWriter::Expansion find_expansion(std::string_view op) {
  for (const NamedExpansion& one : kExpansions) {
    if (one.op == op) return one.make;
  }
  return nullptr;
}

}  // namespace tidemark::io::tensorflow
