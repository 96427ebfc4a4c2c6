// Which groups change variables by themselves: their values are assigned and go nowhere else.
#pragma once

#include "tidemark/compile/fuse_program.h"
#include "tidemark/graph/variable_updates.h"
#include "tidemark/kernels/fusion/compiler.h"

namespace tidemark::compile {

struct SweptGroup {
  size_t group = 0;
  std::vector<int> assigns;  // by output: the node that assigns it
};

/// Whether the product has more than `most_whole` bytes, and the step that holds it and the
/// update takes no more memory than a whole product and the update behind it. Such a step waits for
/// all who read the old value, and what the product reads lives on until then; a whole product
/// lives until the update.
bool is_worth_waiting(const FuseGraph& graph, const FuseGroup& group, size_t most_whole);

/// What each step changes: groups that go on with a product, and those over `most_whole` bytes that
/// are large enough to keep all threads busy, are steps by themselves, so that no gradient has to
/// wait for the others; all the small ones in a segment and on a device are one. A group that reads
/// what another one changes stays out.
std::vector<std::vector<SweptGroup>> find_sweeps(
    const FuseGraph& graph, const std::vector<FuseGroup>& groups,
    const std::vector<std::optional<GroupProgram>>& programs, size_t most_whole);

/// What the sweep of these groups does, over `inputs` of the old graph.
std::shared_ptr<const graph::VariableUpdates> sweep_of(
    const FuseGraph& graph, const std::vector<std::optional<GroupProgram>>& programs,
    const std::vector<SweptGroup>& groups, std::vector<Tensor>& inputs);

/// The same of one group that goes on with a product.
std::shared_ptr<const graph::VariableUpdates> product_update_of(const FuseGraph& graph,
                                                                const GroupProgram& program,
                                                                const fusion::Product& product,
                                                                const SweptGroup& group,
                                                                std::vector<Tensor>& inputs);

}  // namespace tidemark::compile
