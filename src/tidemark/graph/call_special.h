// Calling a step that is more than an op: it runs now, or becomes a node of the graph being built.
#pragma once

#include "tidemark/graph/node.h"

namespace tidemark::graph {

/// Fills all outputs or throws. Inputs may be moved from.
TIDEMARK_API void call_special(const std::shared_ptr<const Special>& special,
                               std::span<const OutputInfo> infos, std::span<Tensor> inputs,
                               std::span<Tensor> outputs);

}  // namespace tidemark::graph
