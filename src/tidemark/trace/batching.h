// Batching: a graph made for one element, computed for all elements at once.
//
//   const std::vector<Tensor> rows = run_batched(graph, {elems}, captured);    // elems: (n, …)
//
// A value is batched if it depends on the element: it has one more dimension, the first. What ops
// that work on elements, reduce axes or go along one become follows from their definitions; others
// have a rule here.
#pragma once

#include "tidemark/graph/graph.h"

namespace tidemark::trace {

/// Something, named in the message, that cannot be done for all elements at once.
class TIDEMARK_API NoBatchRuleError : public UnimplementedError {
 public:
  using UnimplementedError::UnimplementedError;
};

/// The graph's outputs, a row for each element. Its inputs are an element's part of each of
/// `elements`, then `captured`. Computes now, or adds to the graph that is built. Throws
/// NoBatchRuleError.
TIDEMARK_API std::vector<Tensor> run_batched(const graph::Graph& graph,
                                             std::span<const Tensor> elements,
                                             std::span<const Tensor> captured);

}  // namespace tidemark::trace
