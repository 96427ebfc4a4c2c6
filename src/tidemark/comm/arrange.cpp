#include "tidemark/comm/arrange.h"

#include <tidemark/op.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "tidemark/comm/steps.h"
#include "tidemark/compile/rewrite.h"
#include "tidemark/graph/specials.h"

namespace tidemark::comm {

namespace {

using graph::Node;

/// Nodes in the order in which they will stand.
using Order = std::vector<const Node*>;

bool is_in_the_way(const Node& node) { return graph::effects_of(node).is_barrier; }

/// Each reduction just after the last that it needs, as far as nothing stands in the way.
Order with_reductions_moved(const std::vector<Node*>& nodes) {
  std::unordered_map<const Node*, size_t> slots;
  std::vector<std::pair<size_t, bool>> keys;  // after which place, and whether it moved there
  size_t barrier = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = *nodes[i];
    size_t slot = i;
    if (is_reduction(node)) {
      slot = barrier;
      for (const Tensor& t : node.inputs) {
        if (t.is_symbolic()) slot = std::max(slot, slots.at(&graph::node_of(t)));
      }
      for (const graph::NodeRef& before : node.before) {
        if (const auto at = slots.find(before.get()); at != slots.end()) {
          slot = std::max(slot, at->second);
        }
      }
    }
    if (is_in_the_way(node)) barrier = i;
    slots[&node] = slot;
    keys.emplace_back(slot, slot != i);
  }
  std::vector<size_t> places(nodes.size());
  std::iota(places.begin(), places.end(), size_t{0});
  std::stable_sort(places.begin(), places.end(),
                   [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  Order out;
  for (const size_t place : places) out.push_back(nodes[place]);
  return out;
}

/// A reading of a variable that is shared out.
struct Reading {
  std::optional<Variable> part;  // in whose memory this worker's part lies
  size_t place = 0;
};

/// The variable whose value the tensor is.
std::optional<Variable> variable_of(const Tensor& t) {
  if (!t.is_symbolic()) return {};
  const Node& node = graph::node_of(t);
  if (const Variable* shown = graph::shown_variable(node)) return *shown;
  if (node.op && node.op->passes_first_input()) return variable_of(node.inputs[0]);
  return {};
}

class Arranger {
 public:
  Arranger(const graph::Graph& graph, Order order)
      : order_(std::move(order)), now_(graph), outputs_(graph.outputs()) {
    for (const Tensor& t : graph.inputs()) inputs_.push_back(&graph::node_of(t));
    for (const Tensor& t : graph.outputs()) {
      if (t.is_symbolic()) uses_[&made_by(t)] = order_.size();
    }
    for (size_t i = order_.size(); i-- > 0;) {
      if (passes_reading(*order_[i])) continue;
      for (const Tensor& t : order_[i]->inputs) {
        if (t.is_symbolic()) uses_[&made_by(t)] = i;
      }
      for (const graph::NodeRef& before : order_[i]->before) uses_[before.get()] = i;
    }
  }

  std::shared_ptr<graph::Graph> run() {
    for (size_t i = 0; i < order_.size(); ++i) {
      const Node& node = *order_[i];
      if (std::find(inputs_.begin(), inputs_.end(), &node) != inputs_.end()) continue;
      if (const uint64_t variable = gathered_variable(node)) {
        read(node, variable, i);
        continue;
      }
      if (passes_reading(node)) continue;
      for (const Tensor& t : node.inputs) provide(t, i);
      for (const graph::NodeRef& before : node.before) provide(*before, i);
      now_.copy(node);
    }
    for (const Tensor& t : outputs_) provide(t, order_.size());
    return now_.finish();
  }

 private:
  /// What has been gathered of a variable and may still be used.
  struct Held {
    const Node* as = nullptr;
    size_t place = 0;  // of its last use
    int gathered = 0;  // how many gatherings there had been then
  };

  /// The program reads it here; it is gathered where it is needed first, unless something is in the
  /// way.
  void read(const Node& node, uint64_t variable, size_t place) {
    readings_[&node] = {variable_of(node.inputs[0]), place};
    const auto use = uses_.find(&node);
    const size_t first = use == uses_.end() ? place : use->second;
    if (use == uses_.end() || !may_move(readings_[&node], place, first)) {
      gather(node, variable, place);
    }
  }

  bool may_move(const Reading& reading, size_t from, size_t to) const {
    if (!reading.part) return false;
    for (size_t i = from; i < std::min(to, order_.size()); ++i) {
      const graph::Effects effects = graph::effects_of(*order_[i]);
      if (effects.is_barrier || effects.changes(*reading.part)) return false;
    }
    return true;
  }

  /// Whether the node does little more than pass on what was gathered, as a cast does: it is done
  /// again with each gathering, and its users are those of the reading.
  static bool passes_reading(const Node& node) {
    const bool is_light =
        node.op && node.inputs.size() == 1 && node.before.empty() &&
        (node.op->passes_first_input() || (node.op->works_on_elements() && node.op->is_cheap()));
    return is_light && node.inputs[0].is_symbolic() &&
           gathered_variable(made_by(node.inputs[0])) != 0;
  }
  static const Node& made_by(const Tensor& t) {
    const Node& node = graph::node_of(t);
    return passes_reading(node) ? made_by(node.inputs[0]) : node;
  }

  void provide(const Tensor& t, size_t place) {
    if (!t.is_symbolic()) return;
    const Node& node = made_by(t);
    provide(node, place);
    pass_on(graph::node_of(t), node);
  }

  /// What the node makes of the reading, as it was gathered last.
  void pass_on(const Node& node, const Node& reading) {
    if (&node == &reading) return;
    pass_on(graph::node_of(node.inputs[0]), reading);
    if (const auto made = made_.find(&node);
        made != made_.end() && made->second == made_[&reading]) {
      return;
    }
    const graph::NodeRef again = now_.copy_over(node, now_.at(node.inputs));
    now_.set(node, 0, graph::output_of(*again, 0));
    made_[&node] = made_[&reading];
  }

  /// Before the node at that place, which needs it.
  void provide(const Node& node, size_t place) {
    const auto reading = readings_.find(&node);
    if (reading == readings_.end()) return;
    const uint64_t variable = gathered_variable(node);
    Held& held = held_[variable];
    const bool is_there = made_.contains(&node);
    const auto is_unchanged = [&](size_t since) { return may_move(reading->second, since, place); };
    if (!is_there && held.as && held.gathered == gathered_ && held.as != &node &&
        is_unchanged(std::min(held.place, reading->second.place))) {
      now_.set(node, 0, now_.at(graph::output_of(const_cast<Node&>(*held.as), 0)));
      made_[&node] = made_[held.as];
    } else if (!is_there || (held.gathered != gathered_ && is_unchanged(held.place))) {
      gather(node, variable, place);
    }
    held_[variable] = {&node, place, gathered_};
  }

  void gather(const Node& node, uint64_t variable, size_t place) {
    const bool is_first = !made_.contains(&node);
    const graph::NodeRef again = now_.copy_over(node, now_.at(node.inputs));
    if (!is_first) now_.keep(again);
    now_.set(node, 0, graph::output_of(*again, 0));
    made_[&node] = ++gathered_;
    held_[variable] = {&node, place, gathered_};
  }

  const Order order_;
  compile::Rewriter now_;
  const std::vector<Tensor> outputs_;
  std::vector<const Node*> inputs_;
  std::unordered_map<const Node*, size_t> uses_;  // the first
  std::unordered_map<const Node*, Reading> readings_;
  std::unordered_map<const Node*, int> made_;  // at which gathering, the last time
  std::unordered_map<uint64_t, Held> held_;
  int gathered_ = 0;
};

bool is_single(const Tensor& t) { return t.shape().is_fully_known() && t.num_elements() == 1; }

}  // namespace

bool is_arranged_when_planned(const graph::Graph& graph) {
  const std::vector<Node*> nodes = graph.nodes();
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const Node* node) { return gathered_variable(*node) != 0; });
}

std::shared_ptr<graph::Graph> arranged(std::shared_ptr<graph::Graph> graph) {
  if (!is_arranged_when_planned(*graph)) return graph;
  return Arranger(*graph, with_reductions_moved(graph->nodes())).run();
}

bool works_on_elements(const graph::Graph& graph, std::span<const Tensor> values, int64_t count) {
  const Shape part({count});
  const auto is_part = [&](const Shape& shape) { return shape == part; };
  for (const Node* node : graph::nodes_for(values, graph.effects())) {
    if (graph::is_placeholder(*node) || graph::shown_variable(*node)) continue;
    const auto& inputs = node->inputs;
    const bool sees_single = std::all_of(inputs.begin(), inputs.end(), is_single);
    const bool sees_parts = std::all_of(inputs.begin(), inputs.end(), [&](const Tensor& t) {
      return is_single(t) || (t.is_symbolic() && is_part(t.shape()));
    });
    if (graph::update_of(*node)) {
      const graph::VariableUpdate& update = *graph::update_of(*node);
      if (!sees_parts || (update.op && !update.op->works_on_elements())) return false;
      continue;
    }
    const bool gives_single =
        std::all_of(node->outputs.begin(), node->outputs.end(), [](const graph::OutputInfo& out) {
          return out.shape.is_fully_known() && out.shape.num_elements() == 1;
        });
    if (sees_single && gives_single) continue;
    if (!node->op || node->op->is_stateful()) return false;
    const bool gives_part =
        std::all_of(node->outputs.begin(), node->outputs.end(),
                    [&](const graph::OutputInfo& out) { return is_part(out.shape); });
    // One value in all places, or each place by itself.
    const bool repeats = sees_single && node->op->repeated_input() >= 0;
    if (!gives_part || !sees_parts || (!repeats && !node->op->works_on_elements())) return false;
  }
  return true;
}

}  // namespace tidemark::comm
