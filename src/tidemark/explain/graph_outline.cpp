#include "tidemark/explain/graph_outline.h"

#include <algorithm>
#include <unordered_map>

#include "tidemark/exec/versions.h"

namespace tidemark::explain {

namespace {

constexpr int64_t kShownElements = 4;

std::string text_of(const Tensor& t) {
  if (t.num_elements() <= kShownElements && t.dtype() != DType::string) return t.to_string();
  return message(name_of(t.dtype()), " ", t.shape());
}

class Outliner {
 public:
  explicit Outliner(const graph::Graph& graph) : nodes_(graph.nodes()) {
    for (const graph::Node* node : nodes_) {
      number_.emplace(node, static_cast<int>(number_.size()));
    }
    for (const graph::Node* node : nodes_) out_.nodes.push_back(node_of(*node));
    for (const Tensor& t : graph.outputs()) out_.results.push_back(input_of(t));
  }

  Outline finish() && { return std::move(out_); }

 private:
  OutlineInput input_of(const Tensor& t) const {
    if (!t.is_symbolic()) return {-1, 0, text_of(t)};
    const auto known = number_.find(&graph::node_of(t));
    if (known == number_.end()) return {-1, 0, "?"};
    return {known->second, static_cast<int>(graph::symbolic(t).index), {}};
  }

  OutlineNode node_of(const graph::Node& node) const {
    OutlineNode out;
    out.kind = graph::kind_of(node);
    for (const graph::OutputInfo& o : node.outputs) {
      out.outputs.emplace_back(name_of(o.dtype), o.shape.to_string());
    }
    for (const Tensor& t : node.inputs) out.inputs.push_back(input_of(t));
    for (const graph::NodeRef& b : node.before) {
      if (const auto known = number_.find(b.get()); known != number_.end()) {
        out.before.push_back(known->second);
      }
    }
    for (const Attr& attr : node.attrs) {
      if (!attr.is_none()) out.attributes += message(out.attributes.empty() ? "" : ", ", attr);
    }
    if (node.site) out.line = memory::describe(*node.site);
    if (node.special) look_into(*node.special, out);
    return out;
  }

  static void look_into(const graph::Special& special, OutlineNode& out) {
    const graph::Effects effects = special.effects();
    out.has_effect = effects.must_run;
    out.programs = special.inner_programs();
    if (const Variable* shown = special.shown_variable()) {
      out.detail = shown->name();
    } else if (const graph::VariableUpdate* update = special.update()) {
      out.detail = message(update->variable.name(), " by ", graph::name_of_update(update->op));
    } else if (!effects.writes.empty()) {
      out.detail =
          message(special.heavy_work() ? "into " : "over ", effects.writes.size(), " variables");
    } else if (const auto function = special.python_function()) {
      out.detail = *function;
    }
    const std::vector<graph::InnerGraph> inner = special.inner_graphs();
    for (size_t i = 0; i < inner.size(); ++i) {
      out.bodies.push_back({role_of(inner[i].role, i, inner.size()), outline_of(*inner[i].graph)});
    }
  }

  static std::string role_of(graph::InnerGraph::Role role, size_t number, size_t count) {
    if (role == graph::InnerGraph::Role::condition) return "condition";
    if (role == graph::InnerGraph::Role::round) return "body";
    return count == 2 ? (number ? "true" : "false") : message("branch ", number);
  }

  const std::vector<graph::Node*> nodes_;
  std::unordered_map<const graph::Node*, int> number_;
  Outline out_;
};

}  // namespace

Outline outline_of(const graph::Graph& graph) { return Outliner(graph).finish(); }

Outline compiled_outline(const exec::Program& program, std::span<const Tensor> inputs,
                         const std::string& name) {
  for (const Tensor& t : inputs) {
    if (!t.shape().is_fully_known()) {
      fail("[graph] ", name, ": what runs is known for known sizes only; an argument has shape ",
           t.shape());
    }
  }
  const auto graph = exec::specialise(program, inputs);
  if (!graph) {
    fail<FailedPreconditionError>(
        "[graph] ", name,
        " asks for gradients across loops or branches, which are worked out while it runs: such a "
        "function is not compiled. compiled=False shows the graph as it was traced");
  }
  return outline_of(*graph);
}

}  // namespace tidemark::explain
