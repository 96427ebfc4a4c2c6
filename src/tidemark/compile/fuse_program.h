// A group of nodes as a fused program.
#pragma once

#include <optional>

#include "tidemark/compile/fuse_groups.h"

namespace tidemark::compile {

struct GroupProgram {
  fusion::FusedProgram program;
  std::vector<Tensor> inputs;  // of the old graph
  std::vector<int> outputs;    // members whose values leave the group
  bool is_swept = false;       // only to variables, where they can be computed in place
  int product = -1;            // the input that is the group's product
};

/// Empty: the group cannot be one after all.
std::optional<GroupProgram> program_of(const FuseGraph& graph, const FuseGroup& group,
                                       const std::vector<bool>& is_wanted);

}  // namespace tidemark::compile
