#include "tidemark/trace/python_steps.h"

#include "tidemark/trace/specials.h"

namespace tidemark::trace {

namespace {

void add_steps(const graph::Graph& graph, std::vector<PlannedPythonStep>& out) {
  for (const graph::Node* node : graph.nodes()) {
    const graph::Special* special = node->special.get();
    if (const auto* step = dynamic_cast<const PythonStep*>(special)) {
      const std::string& function = step->stands_for();
      out.push_back({function.empty() ? "py_function" : function,
                     node->site ? memory::describe(*node->site) : std::string()});
    } else if (const auto* branch = dynamic_cast<const Branch*>(special)) {
      for (const Body& body : branch->bodies()) add_steps(*body.graph, out);
    } else if (const auto* loop = dynamic_cast<const Loop*>(special)) {
      add_steps(*loop->condition().graph, out);
      add_steps(*loop->body().graph, out);
    }
  }
}

}  // namespace

std::vector<PlannedPythonStep> python_steps(const graph::Graph& graph) {
  std::vector<PlannedPythonStep> out;
  add_steps(graph, out);
  return out;
}

}  // namespace tidemark::trace
