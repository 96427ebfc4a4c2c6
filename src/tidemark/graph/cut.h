// A part of a graph as a graph of its own.
#pragma once

#include "tidemark/graph/graph.h"

namespace tidemark::graph {

/// What is needed of a graph for these outputs and effects where these inputs are given, copied: it
/// keeps no node of the graph alive and does not see it change. Inputs may be any tensors of it.
TIDEMARK_API std::shared_ptr<Graph> cut(std::span<const Tensor> inputs,
                                        std::span<const Tensor> outputs,
                                        std::span<const NodeRef> effects);

}  // namespace tidemark::graph
