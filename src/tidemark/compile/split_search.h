// Looks for the parts of a graph that, run piece by piece, make it fit into a budget.
#pragma once

#include "tidemark/graph/graph.h"

namespace tidemark::compile {

/// What was cut into pieces, and why.
struct SplitNote {
  int64_t pieces = 0;
  int64_t rows = 0;         ///< of the largest value inside, all pieces together
  int64_t rows_each = 0;    ///< of a piece; the last may have fewer
  int64_t inner_bytes = 0;  ///< that were alive at the peak and are so in parts now
  int steps = 0;            ///< that every piece does
  std::string first, last;  ///< "matmul at train.py:3 in step"
  /// "split into 4 by rows (256 of 1024 each): 6 steps from … to …, because …".
  TIDEMARK_API std::string to_string() const;
};

struct SplitAttempt {
  std::shared_ptr<graph::Graph> graph;  ///< after all passes
  int64_t peak = 0;                     ///< before packing
  double seconds = 0;                   ///< estimated
  std::vector<SplitNote> notes;
};

struct SplitOptions {
  /// How long to look: nodes of all attempts together. About 15,000 a second.
  int64_t most_tried = 12'000;
  /// The most nodes that a split may make of a graph.
  int64_t most_nodes = 8000;
};

/// For a graph whose sizes are known, before fusion. Those that fit first, the fastest of them
/// first; then the others, the lowest peak first. May be empty.
TIDEMARK_API std::vector<SplitAttempt> find_splits(const std::shared_ptr<graph::Graph>& unfused,
                                                   int64_t budget,
                                                   const SplitOptions& options = {});

}  // namespace tidemark::compile
