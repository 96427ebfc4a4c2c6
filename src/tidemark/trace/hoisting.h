// What the body of a loop computes alike in every round, taken out of it.
#pragma once

#include "tidemark/exec/program.h"

namespace tidemark::trace {

struct Hoisted {
  /// From what the body captured to the values that are the same in every round; null: there are
  /// none.
  std::shared_ptr<const exec::Program> before;
  /// The body, with those values as further inputs.
  std::shared_ptr<const exec::Program> rest;
};

/// The first `num_variables` inputs of the body change from round to round, the others are
/// captured. Taken out are pure ops whose result is small or took long to compute: others would lie
/// there for the time of the loop and save little.
Hoisted hoist(const graph::Graph& body, size_t num_variables);

}  // namespace tidemark::trace
