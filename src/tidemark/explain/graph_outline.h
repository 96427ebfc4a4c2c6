// A graph as plain values, for those who draw it: nodes, edges, what is inside of fused groups,
// branches and loops.
#pragma once

#include <tidemark/shape.h>

#include <string>
#include <utility>
#include <vector>

#include "tidemark/exec/program.h"
#include "tidemark/graph/graph.h"

namespace tidemark::explain {

struct OutlineInput {
  int node = -1;  // -1: a constant
  int output = 0;
  std::string constant;
};

struct OutlineBody;

struct OutlineNode {
  std::string kind;    // the op's name or the special's
  std::string detail;  // what the special adds to it: the variable, the number of them
  std::vector<std::pair<std::string, std::string>> outputs;  // dtype, shape
  std::vector<OutlineInput> inputs;
  std::vector<int> before;  // ran first, whether or not it looks at them
  std::string attributes, line;
  bool has_effect = false;
  std::vector<graph::InnerProgram> programs;
  std::vector<OutlineBody> bodies;
};

struct Outline {
  std::vector<OutlineNode> nodes;  // each after those it reads
  std::vector<OutlineInput> results;
};

struct OutlineBody {
  std::string role;  // "true", "body"
  Outline outline;
};

TIDEMARK_API Outline outline_of(const graph::Graph& graph);

/// Of what runs for inputs of these dtypes and shapes: after all passes. Throws
/// InvalidArgumentError for unknown sizes, FailedPreconditionError where the function cannot be
/// compiled.
TIDEMARK_API Outline compiled_outline(const exec::Program& program, std::span<const Tensor> inputs,
                                      const std::string& name);

}  // namespace tidemark::explain
