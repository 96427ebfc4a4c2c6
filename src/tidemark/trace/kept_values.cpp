#include "tidemark/trace/kept_values.h"

#include <tidemark/op.h>

#include <algorithm>
#include <map>
#include <set>

#include "tidemark/graph/graph.h"
#include "tidemark/graph/specials.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::trace {

namespace {

using Ref = std::pair<const graph::Node*, uint32_t>;

Ref ref_of(const Tensor& t) { return {&graph::node_of(t), graph::symbolic(t).index}; }

int64_t bytes_of(const Ref& ref) {
  const graph::OutputInfo& info = ref.first->outputs[ref.second];
  return static_cast<int64_t>(bytes_for(info.dtype, info.shape.num_elements()));
}

/// Its result lies in an input's memory: keeping it keeps all of that.
bool is_view(const graph::Node& node) {
  InferContext said({*node.op, node.inputs, node.attrs}, static_cast<int>(node.outputs.size()));
  try {
    node.op->shape_rule()(said);
  } catch (const Error&) {
    return true;  // who knows
  }
  return said.num_outputs() > 0 && said.output(0).aliased_input >= 0;
}

bool is_repeatable(const graph::Node& node) {
  if (graph::is_constant(node)) return true;
  return node.op && !node.op->is_stateful() && !node.op->is_heavy() && node.before.empty();
}

class Chooser {
 public:
  explicit Chooser(const RoundValues& round)
      : round_(round), nodes_(graph::nodes_for(round.results, {})) {
    for (const Tensor& t : round.at_hand) at_hand_.insert(ref_of(t));
  }

  std::vector<Tensor> choose() {
    follow();
    for (const graph::Node* node : nodes_) consider(*node);
    follow();  // what is not needed any more goes
    std::vector<Tensor> out;
    for (graph::Node* node : nodes_) {
      for (uint32_t i = 0; i < node->outputs.size(); ++i) {
        if (kept_.contains({node, i})) out.push_back(graph::output_of(*node, i));
      }
    }
    return out;
  }

 private:
  bool is_back(const graph::Node& node) const {
    return node.sequence >= round_.first_sequence_back;
  }

  /// Which nodes run on the way back, from its results on, and which values they need to be kept.
  void follow() {
    users_.clear();
    kept_.clear();
    for (const Tensor& t : round_.results) need(t, nullptr);
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
      if (runs(**node)) {
        for (const Tensor& t : (*node)->inputs) need(t, *node);
      }
    }
  }
  void need(const Tensor& t, const graph::Node* user) {
    if (!t.is_symbolic()) return;
    const Ref ref = ref_of(t);
    users_[ref].insert(user);
    if (at_hand_.contains(ref) || is_back(*ref.first)) return;
    if (chosen_.contains(ref) || !is_repeatable(*ref.first)) kept_.insert(ref);
  }
  bool runs(const graph::Node& node) const {
    for (uint32_t i = 0; i < node.outputs.size(); ++i) {
      const Ref ref{&node, i};
      if (users_.contains(ref) && !kept_.contains(ref) && !at_hand_.contains(ref)) return true;
    }
    return false;
  }

  /// In the order of the program: whether to keep the result and not what it is computed from.
  void consider(const graph::Node& node) {
    const Ref own{&node, 0};
    if (is_back(node) || !node.op || node.outputs.size() != 1 || !runs(node)) return;
    std::set<Ref> spared;
    int64_t bytes = 0;
    for (const Tensor& t : node.inputs) {
      if (!t.is_symbolic() || !kept_.contains(ref_of(t))) continue;
      if (users_[ref_of(t)].size() == 1 && spared.insert(ref_of(t)).second) {
        bytes += bytes_of(ref_of(t));
      }
    }
    if (bytes == 0 || bytes < bytes_of(own) || is_view(node)) return;
    for (const Ref& ref : spared) {
      kept_.erase(ref);
      chosen_.erase(ref);
    }
    for (const Tensor& t : node.inputs) {
      if (t.is_symbolic()) users_[ref_of(t)].erase(&node);
    }
    kept_.insert(own);
    chosen_.insert(own);
  }

  const RoundValues& round_;
  const std::vector<graph::Node*> nodes_;
  std::set<Ref> at_hand_, kept_, chosen_;
  std::map<Ref, std::set<const graph::Node*>> users_;
};

}  // namespace

std::vector<Tensor> find_kept(const RoundValues& round) { return Chooser(round).choose(); }

}  // namespace tidemark::trace
