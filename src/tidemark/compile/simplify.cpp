#include <algorithm>

#include "tidemark/compile/pass.h"
#include "tidemark/compile/rewrite.h"

namespace tidemark::compile {

namespace {

/// Every element is this number.
bool is_all(const Tensor& t, double number) {
  const Tensor value = constant_value(t);
  if (!value || value.num_elements() != 1) return false;
  if (value.dtype() == DType::float32) return *value.data<float>() == static_cast<float>(number);
  if (value.dtype() == DType::float64) return *value.data<double>() == number;
  return is_integer(value.dtype()) && value.to_ints()[0] == static_cast<int64_t>(number);
}

bool is_like(const Tensor& t, const graph::OutputInfo& wanted) {
  return t.dtype() == wanted.dtype && t.shape() == wanted.shape && t.shape().is_fully_known();
}

bool is_identity(const Ints& perm) {
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

/// A cast that loses nothing of what the one before it gave.
bool widens(DType from, DType to) {
  return (from == DType::float16 && (to == DType::float32 || to == DType::float64)) ||
         (from == DType::bfloat16 && (to == DType::float32 || to == DType::float64)) ||
         (from == DType::float32 && to == DType::float64);
}

class Simplifier {
 public:
  explicit Simplifier(const graph::Graph& graph) : now_(graph) {}
  Rewriter& rewriter() { return now_; }

  /// What stands for the only output; empty: the node stays.
  Tensor replacement(const graph::Node& node) {
    if (!node.op || node.op->is_stateful() || node.outputs.size() != 1 || !node.before.empty()) {
      return {};
    }
    const std::string& name = node.op->name();
    const std::vector<Tensor> inputs = now_.at(node.inputs);
    if (name == "identity" || name == "stop_gradient" || name == "ensure_shape" ||
        name == "broadcast_to" || name == "reshape") {
      if (is_like(inputs[0], node.outputs[0])) return inputs[0];
    }
    if (name == "multiply") return without_neutral(node, inputs, 1, true);
    if (name == "truediv") return without_neutral(node, inputs, 1, false);
    if (name == "subtract") return without_neutral(node, inputs, 0, false);
    if (name == "cast") return cast_of_cast(node, inputs[0]);
    if (name == "transpose") return transpose_of_transpose(node, inputs[0]);
    if (name == "reshape") return reshape_of_reshape(node, inputs);
    return {};
  }

 private:
  /// x * 1, x / 1, x - 0: bit for bit what x is. (x + 0 is not: it makes 0 of -0.)
  static Tensor without_neutral(const graph::Node& node, const std::vector<Tensor>& inputs,
                                double neutral, bool commutes) {
    if (is_all(inputs[1], neutral) && is_like(inputs[0], node.outputs[0])) return inputs[0];
    if (commutes && is_all(inputs[0], neutral) && is_like(inputs[1], node.outputs[0])) {
      return inputs[1];
    }
    return {};
  }

  /// The node of this op that made the tensor; null: something else did.
  static const graph::Node* made_by(const Tensor& t, const char* op) {
    if (!t.is_symbolic()) return nullptr;
    const graph::Node& node = graph::node_of(t);
    return node.op && node.op->name() == op && node.before.empty() ? &node : nullptr;
  }

  Tensor cast_of_cast(const graph::Node& node, const Tensor& input) {
    if (is_like(input, node.outputs[0])) return input;
    const graph::Node* before = made_by(input, "cast");
    if (!before || !widens(before->inputs[0].dtype(), input.dtype())) return {};
    if (is_like(before->inputs[0], node.outputs[0])) return before->inputs[0];
    return now_.add(*node.op, {before->inputs[0]}, node.attrs, node);
  }

  static Ints perm_of(const graph::Node& node) {
    if (!node.attrs[0].is_none()) return node.attrs[0].as_ints();
    Ints perm(static_cast<size_t>(node.inputs[0].rank()));
    for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(perm.size() - 1 - i);
    return perm;
  }

  Tensor transpose_of_transpose(const graph::Node& node, const Tensor& input) {
    const bool conjugates = node.attrs[1].as_bool();
    const Ints perm = perm_of(node);
    if (is_identity(perm) && !conjugates) return input;
    const graph::Node* before = made_by(input, "transpose");
    if (!before || conjugates || before->attrs[1].as_bool()) return {};
    const Ints first = perm_of(*before);
    const auto is_plain = [](const Ints& p) {
      return std::all_of(p.begin(), p.end(), [](int64_t axis) { return axis >= 0; });
    };
    if (!is_plain(first) || !is_plain(perm)) return {};
    Ints both(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) both[i] = first[static_cast<size_t>(perm[i])];
    if (is_identity(both)) return before->inputs[0];
    return now_.add(*node.op, {before->inputs[0]}, {Attr(both), Attr(false)}, node);
  }

  Tensor reshape_of_reshape(const graph::Node& node, const std::vector<Tensor>& inputs) {
    const graph::Node* before = made_by(inputs[0], "reshape");
    if (!before || !node.outputs[0].shape.is_fully_known()) return {};
    if (is_like(before->inputs[0], node.outputs[0])) return before->inputs[0];
    const Shape& shape = node.outputs[0].shape;
    const std::vector<int64_t> dims(shape.begin(), shape.end());
    const Tensor wanted = Tensor::of(std::span<const int64_t>(dims), {shape.rank()});
    return now_.add(*node.op, {before->inputs[0], wanted}, node.attrs, node);
  }

  Rewriter now_;
};

}  // namespace

std::shared_ptr<graph::Graph> simplify(const std::shared_ptr<graph::Graph>& graph) {
  Simplifier simplifier(*graph);
  bool changed = false;
  for (const graph::Node* node : graph->nodes()) {
    if (graph::is_placeholder(*node)) continue;
    if (const Tensor now = simplifier.replacement(*node)) {
      simplifier.rewriter().set(*node, 0, now);
      changed = true;
    } else {
      simplifier.rewriter().copy(*node);
    }
  }
  return changed ? simplifier.rewriter().finish() : graph;
}

}  // namespace tidemark::compile
