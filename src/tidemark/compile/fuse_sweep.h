// Which groups become part of a sweep: their values are assigned to variables and go nowhere else.
#pragma once

#include "tidemark/compile/fuse_program.h"
#include "tidemark/kernels/fusion/sweep.h"

namespace tidemark::compile {

struct SweptGroup {
  size_t group = 0;
  std::vector<int> assigns;  // by output: the node that assigns it
};

/// By segment: all that can run as one step. A group that reads what another one changes stays out.
std::vector<std::vector<SweptGroup>> find_sweeps(
    const FuseGraph& graph, const std::vector<std::optional<GroupProgram>>& programs);

/// What the sweep of these groups does, over `inputs` of the old graph.
std::shared_ptr<const fusion::Sweep> sweep_of(
    const FuseGraph& graph, const std::vector<std::optional<GroupProgram>>& programs,
    const std::vector<SweptGroup>& groups, std::vector<Tensor>& inputs);

}  // namespace tidemark::compile
