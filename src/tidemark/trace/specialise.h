// A graph for the sizes at hand: a pass over a traced graph, before all others.
#pragma once

#include <memory>
#include <span>

#include "tidemark/graph/graph.h"

namespace tidemark::trace {

/// The graph again, with inputs of the sizes of these; all shapes are those that the ops' rules
/// tell from there. Constants stand for themselves, readings of a variable that nothing changed in
/// between become one, and gradients that were left to the run become nodes. Null: sizes on the way
/// of such a gradient are unknown all the same, so that it has to be recorded while it runs.
/// An input that nobody looks at may be missing.
std::shared_ptr<graph::Graph> specialise(const graph::Graph& graph, std::span<const Tensor> inputs);

class GraphBuilder;

/// Whether steps are made ready for gradients across them.
enum class Opens : uint8_t { if_asked, all };

/// The same into a graph that is being built, for inputs that are tensors of it: the outputs there.
std::vector<Tensor> copy_into(GraphBuilder& to, const graph::Graph& from,
                              std::span<const Tensor> inputs, Opens opens = Opens::if_asked);
/// Whether a node needs to be recorded while it runs: such a graph cannot be planned.
bool needs_record(std::span<graph::Node* const> nodes);

}  // namespace tidemark::trace
