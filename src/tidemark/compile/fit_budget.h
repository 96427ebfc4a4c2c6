// A graph that does some of its steps twice, or in pieces, so that it needs no more memory than it
// may.
#pragma once

#include "tidemark/compile/split_search.h"
#include "tidemark/plan/lowering.h"

namespace tidemark::compile {

struct Fitted {
  std::shared_ptr<graph::Graph> graph;
  int64_t peak = 0;        ///< of what lies in memory at once, before packing
  int64_t given_peak = 0;  ///< with nothing repeated
  double added_time = 0;   ///< estimated, as a part of the whole
  int repeated = 0;        ///< steps that run again
  std::vector<SplitNote> splits;
  bool fits = false;  ///< false: this is the least that was found
};

/// For a graph whose sizes are known, after all passes. `unfused`: the same before fusion; null:
/// nothing is fused otherwise or split.
TIDEMARK_API Fitted fit_budget(const std::shared_ptr<graph::Graph>& graph, int64_t budget,
                               const std::shared_ptr<graph::Graph>& unfused = nullptr);

/// What a run takes, guessed: good for comparing graphs that compute the same.
double estimated_seconds(const plan::Lowering& lowered);

}  // namespace tidemark::compile
