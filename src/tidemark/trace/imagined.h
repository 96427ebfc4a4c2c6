// Runs of an op that never were: its rule on sizes and elements that stand for unknown ones.
#pragma once

#include <tidemark/op.h>

#include "tidemark/graph/node.h"

namespace tidemark::trace {

/// Sizes with many divisors, so that splitting and folding dimensions works out; the last is below
/// every limit that a program may set (`x[:5]`), and much is impossible in its world.
inline constexpr int64_t kSizes[graph::kWorlds] = {720, 5040, 1};
inline constexpr int64_t kMostKnownElements = 32;

struct Output {
  DType dtype = DType::invalid;
  Shape shape;
};

/// A tensor of this shape without elements; asking for them throws ValueUnknownError.
Tensor stand_in(DType dtype, const Shape& shape);
/// Integers of this dtype; empty where they do not fit in it or it is not one that sizes have.
Tensor tensor_of_ints(DType dtype, std::span<const int64_t> values, const Shape& shape);

Shape in_world(const Shape& shape, int world);
inline bool has_worlds(const Tensor& t) { return t.is_symbolic() && graph::symbolic(t).imagined; }
/// Whether its elements are sizes that differ from world to world.
bool has_varying_elements(const Tensor& t);
Tensor input_in_world(const Tensor& t, int world);
/// Whether integers of which some are known are put side by side: parts of a shape.
bool joins_parts_of_a_shape(const OpCall& call);
/// All of them. Where tensors are joined of which some have elements, each unknown element of the
/// others is an unknown size: `[n, 3]` says a shape whose last size is known.
std::vector<Tensor> inputs_in_world(const OpCall& call, int world);

/// What the op's rule says of these inputs.
std::vector<Output> run_rule(const OpCall& call, std::span<const Tensor> inputs, size_t count);
/// Elements of small integer outputs, when those of all inputs are known in this world. Ops that
/// tell a shape need no elements.
std::vector<Tensor> run_small(const OpCall& call, std::span<const Tensor> inputs,
                              const std::vector<Output>& outputs);

/// What holds of both; all of `more` where nothing was found before.
void join_into(std::vector<Output>& found, const std::vector<Output>& more);

}  // namespace tidemark::trace
