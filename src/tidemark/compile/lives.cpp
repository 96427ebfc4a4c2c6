#include "tidemark/compile/lives.h"

#include <tidemark/op.h>

#include <algorithm>

#include "tidemark/graph/specials.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::compile {

namespace {

/// Chains longer than this may come apart.
constexpr int kLongestChain = 24;
/// Nobody looks for views of less.
constexpr int64_t kSmall = 16 << 10;

int64_t bytes_of(const graph::OutputInfo& info) {
  if (!info.shape.is_fully_known() || info.dtype == DType::string) return 0;
  return static_cast<int64_t>(bytes_for(info.dtype, info.shape.num_elements()));
}

}  // namespace

bool Life::is_alive(int at) const {
  return std::any_of(spans.begin(), spans.end(),
                     [&](const auto& span) { return span.first <= at && at <= span.second; });
}

Lives::Lives(const graph::Graph& graph) : nodes(graph.nodes()), of_output_(nodes.size()) {
  for (size_t i = 0; i < nodes.size(); ++i) place_.emplace(nodes[i], static_cast<int>(i));
  for (size_t i = 0; i < nodes.size(); ++i) add_node(static_cast<int>(i));
  const int end = static_cast<int>(nodes.size()) - 1;
  for (const Tensor& t : graph.outputs()) {
    if (const int life = of(t); life >= 0) all[static_cast<size_t>(life)].is_kept = true;
  }
  for (Life& life : all) {
    const int last = life.uses.empty() ? life.made : life.uses.back();
    life.spans = {{life.made, life.is_kept ? end : last}};
  }
  find_passing();
}

int Lives::of(const Tensor& t) const {
  if (!t.is_symbolic()) return -1;
  const auto place = place_.find(&graph::node_of(t));
  if (place == place_.end()) return -1;
  return of_output_[static_cast<size_t>(place->second)][graph::symbolic(t).index];
}

void Lives::add_node(int place) {
  graph::Node& node = *nodes[static_cast<size_t>(place)];
  for (const Tensor& t : node.inputs) {
    const int life = of(t);
    if (life < 0) continue;
    std::vector<int>& uses = all[static_cast<size_t>(life)].uses;
    if (uses.empty() || uses.back() != place) uses.push_back(place);
  }
  std::vector<int>& lives = of_output_[static_cast<size_t>(place)];
  if (const int viewed = viewed_input(node); viewed >= 0) {
    const int life = of(node.inputs[static_cast<size_t>(viewed)]);
    if (life >= 0) {
      all[static_cast<size_t>(life)].views.push_back(&node);
      lives.assign(node.outputs.size(), life);
      return;
    }
  }
  for (uint32_t i = 0; i < node.outputs.size(); ++i) {
    Life life;
    life.maker = &node;
    life.output = i;
    life.bytes = bytes_of(node.outputs[i]);
    life.made = place;
    life.is_variable = graph::shown_variable(node) != nullptr;
    life.is_external = life.is_variable || graph::is_placeholder(node) || graph::is_constant(node);
    lives.push_back(static_cast<int>(all.size()));
    all.push_back(std::move(life));
  }
}

/// The input whose bytes all outputs show; -1: the node computes, or it does not matter.
int Lives::viewed_input(const graph::Node& node) const {
  if (!node.op || node.op->is_elementwise() || node.op->is_heavy() || node.op->is_stateful()) {
    return -1;
  }
  int64_t largest = 0;
  for (const graph::OutputInfo& out : node.outputs) largest = std::max(largest, bytes_of(out));
  if (largest < kSmall) return -1;
  for (const Tensor& t : node.inputs) {
    if (!t.shape().is_fully_known() || t.dtype() == DType::string) return -1;
  }
  try {
    const OpCall call{*node.op, node.inputs, node.attrs};
    InferContext said(call, static_cast<int>(node.outputs.size()));
    node.op->shape_rule()(said);
    return said.num_outputs() > 0 ? said.output(0).aliased_input : -1;
  } catch (const Error&) {
    return -1;  // a value is needed that only the run can tell
  }
}

void Lives::find_passing() {
  const auto is_elementwise = [&](const graph::Node& node) {
    return node.op && node.op->is_elementwise();
  };
  const auto is_heavy = [](const graph::Node& node) { return node.op && node.op->is_heavy(); };
  std::vector<int> heavy = {0};  // nodes before each place
  for (const graph::Node* node : nodes) heavy.push_back(heavy.back() + is_heavy(*node));
  for (Life& life : all) {
    if (life.is_external || life.is_kept || !life.views.empty() || life.uses.empty()) continue;
    const auto is_near = [&](int use) {
      const bool none_between =
          heavy[static_cast<size_t>(use)] == heavy[static_cast<size_t>(life.made) + 1];
      return none_between && use - life.made <= kLongestChain &&
             is_elementwise(*nodes[static_cast<size_t>(use)]);
    };
    life.is_passing = (is_elementwise(*life.maker) || is_heavy(*life.maker)) &&
                      std::all_of(life.uses.begin(), life.uses.end(), is_near);
  }
}

std::vector<int64_t> Lives::loads() const {
  std::vector<int64_t> change(nodes.size() + 1, 0);
  for (const Life& life : all) {
    if (life.is_external || life.is_passing) continue;
    for (const auto& [first, last] : life.spans) {
      change[static_cast<size_t>(first)] += life.bytes;
      change[static_cast<size_t>(last) + 1] -= life.bytes;
    }
  }
  int64_t load = 0;
  for (int64_t& at : change) at = load += at;
  change.pop_back();
  return change;
}

}  // namespace tidemark::compile
