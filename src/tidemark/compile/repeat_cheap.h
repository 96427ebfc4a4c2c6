// Values that are cheap to compute are computed again where they are needed late, instead of being
// kept through the part of a program in which most memory is taken.
//
// A training step keeps what its way back needs. Of an activation y = f(x) it often keeps both, x
// for the slope of f and y for the gradient of the next product: y is as good as there where x is.
#pragma once

#include "tidemark/graph/graph.h"

namespace tidemark::compile {

struct RepeatedStep {
  std::string op, line;
  int64_t bytes = 0;     ///< that are not kept
  std::string kept_for;  ///< who needs the value late
};

struct Repetitions {
  std::vector<RepeatedStep> steps;
  double added_time = 0;  ///< estimated, as a part of the whole
};

/// `most_time`: what may be added to the estimated time of the whole, as a part of it. Gives the
/// graph itself where nothing is gained. For graphs whose sizes are known, before fusion.
TIDEMARK_API std::shared_ptr<graph::Graph> repeat_cheap(const std::shared_ptr<graph::Graph>& graph,
                                                        double most_time,
                                                        Repetitions* repetitions = nullptr);

}  // namespace tidemark::compile
