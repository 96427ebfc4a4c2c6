#include "tidemark/trace/hoisting.h"

#include <tidemark/op.h>

#include <unordered_set>

#include "tidemark/graph/specials.h"

namespace tidemark::trace {

namespace {

constexpr int64_t kFewElements = 1024;

bool is_worth_keeping(const graph::Node& node) {
  const Shape& shape = node.outputs[0].shape;
  return node.op->is_heavy() || (shape.is_fully_known() && shape.num_elements() <= kFewElements);
}

/// Nodes whose value is the same in every round.
class Invariants {
 public:
  Invariants(const graph::Graph& body, size_t num_variables) {
    for (size_t i = num_variables; i < body.inputs().size(); ++i) {
      same_.insert(&graph::node_of(body.inputs()[i]));
    }
  }
  bool contains(const graph::Node& node) const { return same_.contains(&node); }

  void consider(const graph::Node& node) {
    if (!node.op) {
      if (graph::is_constant(node)) same_.insert(&node);
      return;
    }
    if (node.op->is_stateful() || node.outputs.size() != 1 || !node.before.empty()) return;
    for (const Tensor& t : node.inputs) {
      if (t.is_symbolic() && !contains(graph::node_of(t))) return;
    }
    if (is_worth_keeping(node)) same_.insert(&node);
  }

 private:
  std::unordered_set<const graph::Node*> same_;
};

}  // namespace

Hoisted hoist(const graph::Graph& body, size_t num_variables) {
  Invariants invariants(body, num_variables);
  const std::vector<graph::Node*> nodes = body.nodes();
  for (const graph::Node* node : nodes) invariants.consider(*node);
  std::vector<Tensor> taken_out;
  std::unordered_set<const graph::Node*> seen;
  const auto take_out = [&](const Tensor& t) {
    if (!t.is_symbolic()) return;
    const graph::Node& node = graph::node_of(t);
    if (node.op && invariants.contains(node) && seen.insert(&node).second) taken_out.push_back(t);
  };
  for (const graph::Node* node : nodes) {
    if (invariants.contains(*node)) continue;
    for (const Tensor& t : node->inputs) take_out(t);
  }
  for (const Tensor& t : body.outputs()) take_out(t);
  if (taken_out.empty()) return {};
  const std::span<const Tensor> captured = std::span(body.inputs()).subspan(num_variables);
  std::vector<Tensor> inputs = body.inputs();
  inputs.insert(inputs.end(), taken_out.begin(), taken_out.end());
  return {exec::Program::build(captured, taken_out),
          exec::Program::build(inputs, body.outputs(), body.effects())};
}

}  // namespace tidemark::trace
