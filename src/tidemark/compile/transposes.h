// What passes know of transposes.
#pragma once

#include <optional>

#include "tidemark/graph/graph.h"

namespace tidemark::compile {

/// The node of this op that made the tensor; null: something else did, or it waits for an effect.
const graph::Node* made_by(const Tensor& t, std::string_view op);

/// Where the dimensions of a transpose's result come from; empty: it is no transpose, or one that
/// conjugates.
std::optional<Ints> permutation_of(const graph::Node& node);
/// As permutation_of the node that made the tensor.
std::optional<Ints> permutation_of(const Tensor& t);

bool is_identity(const Ints& permutation);
Ints inverse(const Ints& permutation);
/// First one, then the other.
Ints composed(const Ints& first, const Ints& second);
/// Leaves all but the last two dimensions where they are.
bool swaps_last_two(const Ints& permutation);
/// Dimensions with more than one element stay in their order: only the shape changes.
bool is_reshape(const Ints& permutation, const Shape& shape);

}  // namespace tidemark::compile
