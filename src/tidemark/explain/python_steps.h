// Steps of a graph that are code in Python, which runs whenever the graph does.
#pragma once

#include <tidemark/plan.h>

#include "tidemark/graph/graph.h"

namespace tidemark::explain {

/// A special that runs Python.
class TIDEMARK_API PythonStep {
 public:
  virtual ~PythonStep() = default;
  /// The library's function that could not be traced; empty: the user's own code.
  virtual const std::string& stands_for() const = 0;
};

/// All of a graph, those in branches and loops too.
TIDEMARK_API std::vector<PlannedPythonStep> python_steps(const graph::Graph& graph);

}  // namespace tidemark::explain
