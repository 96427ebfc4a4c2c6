// Steps of a graph that are code in Python, which runs whenever the graph does.
#pragma once

#include <tidemark/plan.h>

#include "tidemark/graph/graph.h"

namespace tidemark::explain {

/// All of a graph, those in branches and loops too.
TIDEMARK_API std::vector<PlannedPythonStep> python_steps(const graph::Graph& graph);

}  // namespace tidemark::explain
