// How long steps take, guessed by the costs of their device (base/backend.h).
#pragma once

#include "tidemark/graph/graph.h"

namespace tidemark::compile {

/// From what the node touches and, where it multiplies matrices, from how often: only the
/// proportions matter.
double estimated_seconds(const graph::Node& node);
/// For passing over that many bytes once, where the node runs.
double estimated_seconds(const graph::Node& node, int64_t bytes);

}  // namespace tidemark::compile
