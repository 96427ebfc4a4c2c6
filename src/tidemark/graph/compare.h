// Whether two graphs compute the same: traces for arguments that make no difference share one.
#pragma once

#include "tidemark/graph/graph.h"

namespace tidemark::graph {

/// Node by node: ops, attributes, sizes, how they are joined, and constants (large ones only if
/// they are the same tensor). Names and source lines do not count.
TIDEMARK_API bool are_same(const Graph& a, const Graph& b);

}  // namespace tidemark::graph
