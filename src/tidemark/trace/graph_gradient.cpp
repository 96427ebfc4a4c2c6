#include "tidemark/trace/graph_gradient.h"

#include "tidemark/graph/graph.h"
#include "tidemark/tensor/storage.h"
#include "tidemark/trace/infer.h"
#include "tidemark/trace/specials.h"

namespace tidemark::trace {

namespace {

class Opaque final : public autodiff::CustomBackward {
 public:
  std::vector<autodiff::Adjoint> run(std::span<const Tensor>) override {
    throw ValueUnknownError("the gradient across this step is known only when the graph runs");
  }
};

std::vector<Tensor> outputs_of(graph::Node& node) {
  std::vector<Tensor> out;
  for (uint32_t i = 0; i < node.outputs.size(); ++i) {
    out.push_back(graph::output_of(node, i, imagine(node.outputs[i].shape)));
  }
  return out;
}

/// Its inputs, and of the variables read inside those that the tape watches.
std::vector<Tensor> seen_by(const graph::Node& node, const autodiff::Tape& tape) {
  std::vector<Tensor> seen = node.inputs;
  for (const Variable& variable : graph::effects_of(node).reads) {
    if (tape.is_watched(variable.id())) seen.push_back(variable.operand());
  }
  return seen;
}

}  // namespace

const std::shared_ptr<autodiff::CustomBackward>& opaque_backward() {
  static const std::shared_ptr<autodiff::CustomBackward> shared = std::make_shared<Opaque>();
  return shared;
}

void note_steps(autodiff::Tape& tape, std::span<const Tensor> tensors) {
  for (graph::Node* node : graph::nodes_for(tensors, {})) {
    const bool gives_value = graph::is_placeholder(*node) || node->special == constant_special() ||
                             graph::shown_variable(*node);
    if (gives_value || node->outputs.empty()) continue;
    const std::vector<Tensor> outputs = outputs_of(*node);
    if (node->op) {
      tape.note({*node->op, node->inputs, node->attrs}, outputs);
    } else {
      tape.record(seen_by(*node, tape), outputs, opaque_backward());
    }
  }
}

std::vector<autodiff::Adjoint> gradients(std::span<const Tensor> ys, std::span<const Tensor> xs,
                                         std::span<const Tensor> seeds) {
  autodiff::Tape tape({.persistent = false, .watch_accessed_variables = false});
  std::vector<uint64_t> ids;
  for (const Tensor& x : xs) {
    tape.watch(x);
    ids.push_back(id_of(x));
  }
  note_steps(tape, ys);
  return tape.gradient(ys, ids, seeds, xs);
}

}  // namespace tidemark::trace
