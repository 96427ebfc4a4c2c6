#include <tidemark/op.h>

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

class Simplifier {
 public:
  explicit Simplifier(const graph::Graph& graph) : now_(graph) {}

  /// Null: nothing is left out.
  std::shared_ptr<graph::Graph> run() {
    const bool changed = now_.replace([&](const graph::Node& node) { return replacement(node); });
    return changed ? now_.finish() : nullptr;
  }

 private:
  /// What stands for the only output; empty: the node stays.
  Tensor replacement(const graph::Node& node) {
    if (!node.op || node.op->is_stateful() || node.outputs.size() != 1 || !node.before.empty()) {
      return {};
    }
    const OpDef& op = *node.op;
    const std::vector<Tensor> inputs = now_.at(node.inputs);
    if (op.passes_first_input() || op.is_reshaping() || op.repeated_input() == 0) {
      if (is_like(inputs[0], node.outputs[0])) return inputs[0];
    }
    if (op.neutral_operand()) return without_neutral(node, inputs, *op.neutral_operand());
    if (op.is_reshaping()) return reshape_of_reshape(node, inputs[0]);
    return {};
  }

  /// x * 1, x / 1, x - 0: bit for bit what x is. (x + 0 is not: it makes 0 of -0.)
  static Tensor without_neutral(const graph::Node& node, const std::vector<Tensor>& inputs,
                                const NeutralOperand& neutral) {
    if (is_all(inputs[1], neutral.number) && is_like(inputs[0], node.outputs[0])) return inputs[0];
    if (neutral.on_either_side && is_all(inputs[0], neutral.number) &&
        is_like(inputs[1], node.outputs[0])) {
      return inputs[1];
    }
    return {};
  }

  /// What reshapes something that was just reshaped takes what was there before.
  Tensor reshape_of_reshape(const graph::Node& node, const Tensor& input) {
    if (!input.is_symbolic() || !node.outputs[0].shape.is_fully_known()) return {};
    const graph::Node& before = graph::node_of(input);
    if (!before.op || !before.op->is_reshaping() || !before.before.empty()) return {};
    const Tensor& source = before.inputs[0];
    if (is_like(source, node.outputs[0])) return source;
    const Shape& shape = node.outputs[0].shape;
    const std::vector<int64_t> dims(shape.begin(), shape.end());
    const Tensor wanted = Tensor::of(std::span<const int64_t>(dims), {shape.rank()});
    return now_.add(OpRegistry::instance().get("reshape"), {source, wanted}, {}, node);
  }

  Rewriter now_;
};

}  // namespace

std::shared_ptr<graph::Graph> simplify(const std::shared_ptr<graph::Graph>& graph) {
  const std::shared_ptr<graph::Graph> better = Simplifier(*graph).run();
  return better ? better : graph;
}

}  // namespace tidemark::compile
