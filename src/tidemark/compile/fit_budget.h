// A graph that does some of its steps twice, so that it needs no more memory than it may.
#pragma once

#include "tidemark/graph/graph.h"

namespace tidemark::compile {

struct Fitted {
  std::shared_ptr<graph::Graph> graph;
  int64_t peak = 0;        ///< of what lies in memory at once, before packing
  int64_t given_peak = 0;  ///< with nothing repeated
  double added_time = 0;   ///< estimated, as a part of the whole
  int repeated = 0;        ///< steps that run again
  bool fits = false;       ///< false: this is the least that was found
};

/// For a graph whose sizes are known, after all passes.
TIDEMARK_API Fitted fit_budget(const std::shared_ptr<graph::Graph>& graph, int64_t budget);

}  // namespace tidemark::compile
