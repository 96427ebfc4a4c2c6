// Whether two graphs compute the same: traces for arguments that make no difference share one.
#pragma once

#include "tidemark/graph/graph.h"

namespace tidemark::graph {

enum class Lines : uint8_t {
  ignored,
  compared,  // messages and memory reports of one would be right for the other, too
};

/// Node by node: ops, attributes, sizes, how they are joined, and constants (large ones only if
/// they are the same tensor). Names given to nodes do not count.
TIDEMARK_API bool are_same(const Graph& a, const Graph& b, Lines lines = Lines::ignored);

/// Of one dtype and shape and of the same bytes. Beyond `most_bytes`, and of strings, only a tensor
/// and itself are equal: comparing must stay cheap.
TIDEMARK_API bool are_same_constants(const Tensor& a, const Tensor& b, size_t most_bytes);

/// Equal for graphs that are the same.
TIDEMARK_API uint64_t content_hash(const Graph& graph);

}  // namespace tidemark::graph
