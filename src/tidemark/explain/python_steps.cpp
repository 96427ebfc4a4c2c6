#include "tidemark/explain/python_steps.h"

namespace tidemark::explain {

namespace {

void add_steps(const graph::Graph& graph, std::vector<PlannedPythonStep>& out) {
  for (const graph::Node* node : graph.nodes()) {
    const graph::Special* special = node->special.get();
    if (!special) continue;
    if (const auto function = special->python_function()) {
      out.push_back({std::string(function->empty() ? "py_function" : *function),
                     node->site ? memory::describe(*node->site) : std::string()});
    }
    for (const graph::InnerGraph& inner : special->inner_graphs()) add_steps(*inner.graph, out);
  }
}

}  // namespace

std::vector<PlannedPythonStep> python_steps(const graph::Graph& graph) {
  std::vector<PlannedPythonStep> out;
  add_steps(graph, out);
  return out;
}

}  // namespace tidemark::explain
