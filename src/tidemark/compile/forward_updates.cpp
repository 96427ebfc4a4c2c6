// An update of a variable becomes a value that later readers take from each other, and one
// assignment at the end: m.assign_add(d); w.assign_sub(m) is arithmetic that can be fused.
//
// Only where nobody can see the difference: what may look at variables by itself (a loop, a print)
// finds them assigned.

#include <algorithm>
#include <map>

#include "tidemark/compile/fuse_graph.h"
#include "tidemark/compile/pass.h"
#include "tidemark/compile/rewrite.h"
#include "tidemark/compile/target.h"
#include "tidemark/graph/specials.h"
#include "tidemark/kernels/fusion/compiler.h"

namespace tidemark::compile {

namespace {

class Forwarder {
 public:
  explicit Forwarder(const graph::Graph& graph) : graph_(graph), now_(graph) {}

  std::shared_ptr<graph::Graph> run() {
    for (const graph::Node* node : graph_.nodes()) {
      if (!graph::is_placeholder(*node)) visit(*node);
    }
    assign_all();
    return changed_ ? now_.finish() : nullptr;
  }

 private:
  struct Pending {
    Variable variable;
    Tensor value;
    const graph::Node* like;
  };

  void visit(const graph::Node& node) {
    if (waits_for_effects(node)) assign_all();
    const graph::Effects effects = graph::effects_of(node);
    if (!effects.touches_variables()) {
      now_.copy(node);
      return;
    }
    if (const Variable* shown = graph::shown_variable(node)) return take_reading(node, *shown);
    const graph::VariableUpdate* update = graph::update_of(node);
    if (update && node.before.empty() && can_wait(node, *update)) {
      changed_ = true;
      return note(node, *update);
    }
    assign_all();
    readings_.clear();
    now_.copy(node);
  }

  /// For anything but pure ops, which see no variable change.
  static bool waits_for_effects(const graph::Node& node) {
    return std::any_of(node.before.begin(), node.before.end(), [](const graph::NodeRef& before) {
      return !graph::effects_of(*before).is_pure();
    });
  }

  void take_reading(const graph::Node& node, const Variable& variable) {
    const uint64_t id = variable.id();
    if (const auto known = pending_.find(id); known != pending_.end()) {
      now_.set(node, 0, known->second.value);
      return;
    }
    now_.copy(node);
    readings_[id] = now_.at(graph::output_of(const_cast<graph::Node&>(node), 0));
  }

  /// The result is as large as the variable, and cannot fail on some values.
  static bool can_wait(const graph::Node& node, const graph::VariableUpdate& update) {
    const Variable& v = update.variable;
    if (!is_floating(v.dtype()) || !v.shape().is_fully_known() || !node.outputs.empty()) {
      return false;
    }
    for (const Tensor& t : node.inputs) {
      if (t.shape() != v.shape() && (t.rank() != 0 || update.is_assignment())) return false;
      if (t.dtype() != v.dtype()) return false;
    }
    if (update.is_assignment()) return true;
    const size_t operands = update.op->inputs().size();
    return operands == node.inputs.size() + 1 && operands <= 3 &&
           target_of(node).fusion().can_fuse(*update.op, v.dtype());
  }

  void note(const graph::Node& node, const graph::VariableUpdate& update) {
    const Variable& v = update.variable;
    std::vector<Tensor> inputs = now_.at(node.inputs);
    Tensor value = inputs[0];
    if (const OpDef* op = update.op) {
      inputs.insert(inputs.begin(), value_of(v, node));
      std::vector<Attr> attrs = update.attrs;
      for (size_t i = attrs.size(); i < op->attrs().size(); ++i) {
        attrs.push_back(op->params()[static_cast<size_t>(op->attrs()[i])].fallback);
      }
      value = now_.add(*op, std::move(inputs), std::move(attrs), node);
    }
    pending_[v.id()] = {v, value, &node};
  }

  Tensor value_of(const Variable& v, const graph::Node& like) {
    if (const auto known = pending_.find(v.id()); known != pending_.end()) {
      return known->second.value;
    }
    Tensor& reading = readings_[v.id()];
    if (!reading) {
      const graph::NodeRef node = now_.add(std::make_shared<const graph::ReadVariable>(v), {},
                                           {{v.dtype(), v.shape(), 0, graph::device_of(v)}}, like);
      reading = graph::output_of(*node, 0);
    }
    return reading;
  }

  void assign_all() {
    for (const auto& [id, pending] : pending_) {
      auto assign = std::make_shared<const graph::UpdateVariable>(
          graph::VariableUpdate{.variable = pending.variable, .attrs = {}});
      now_.keep(now_.add(std::move(assign), {pending.value}, {}, *pending.like));
      readings_.erase(id);
    }
    pending_.clear();
  }

  const graph::Graph& graph_;
  Rewriter now_;
  std::map<uint64_t, Pending> pending_;
  std::map<uint64_t, Tensor> readings_;  // of variables that have not changed since
  bool changed_ = false;
};

}  // namespace

std::shared_ptr<graph::Graph> forward_updates(const std::shared_ptr<graph::Graph>& graph) {
  const bool any =
      std::any_of(graph->effects().begin(), graph->effects().end(),
                  [](const graph::NodeRef& node) { return graph::update_of(*node) != nullptr; });
  // Without fusion the updates are best done one by one.
  if (!any || !is_fusion_on()) return graph;
  std::shared_ptr<graph::Graph> forwarded = Forwarder(*graph).run();
  return forwarded ? forwarded : graph;
}

}  // namespace tidemark::compile
