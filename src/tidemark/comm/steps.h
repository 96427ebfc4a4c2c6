// Collectives on tensors. Each is one step: it happens now, or becomes a node of the graph being
// built, whose plan counts its scratch memory; steps of one group stay in the order of the program.
//
//   std::vector<Tensor> sums = comm::all_reduce(group, gradients, Reduce::sum);
//
// Where tensors have owners, `reduce` brings each to its own and `spread` takes it from there.
//
// Gradients: of all_reduce by sum, reduce_scatter by sum, all_gather, broadcast and all_to_all. A
// tape that asks for others gets UnimplementedError.
#pragma once

#include <tidemark/tensor.h>

#include "tidemark/comm/group.h"
#include "tidemark/graph/graph.h"

namespace tidemark::comm {

using GroupPtr = std::shared_ptr<Group>;

/// The tensors may be of any shapes, the same on all workers.
TIDEMARK_API std::vector<Tensor> all_reduce(const GroupPtr& group, std::span<const Tensor> tensors,
                                            Reduce reduce);
/// The tensors of all workers, one after the other along the first axis.
TIDEMARK_API Tensor all_gather(const GroupPtr& group, const Tensor& tensor);
/// Rows of the sum: the first of as many equal parts as there are workers for the first, ….
TIDEMARK_API Tensor reduce_scatter(const GroupPtr& group, const Tensor& tensor, Reduce reduce);
/// The root's tensor.
TIDEMARK_API Tensor broadcast(const GroupPtr& group, const Tensor& tensor, int root);
/// Of as many equal parts along the first axis as there are workers, the first worker's for this
/// one, then the second's, ….
TIDEMARK_API Tensor all_to_all(const GroupPtr& group, const Tensor& tensor);
/// The sum of each tensor on the worker that owns it; empty tensors on the others.
TIDEMARK_API std::vector<Tensor> reduce(const GroupPtr& group, std::span<const Tensor> tensors,
                                        Reduce reduce, std::vector<int> owners);
/// Each tensor as the worker has it that owns it.
TIDEMARK_API std::vector<Tensor> spread(const GroupPtr& group, std::span<const Tensor> tensors,
                                        std::vector<int> owners);
/// What the owner has, of that shape. The others' `own` is not looked at.
TIDEMARK_API Tensor fetch(const GroupPtr& group, const Tensor& own, int owner, const Shape& shape);
/// Until all workers are here.
TIDEMARK_API void barrier(const GroupPtr& group);

/// What a run of a graph takes of the network.
struct Traffic {
  size_t bytes_sent = 0;   ///< by this worker, to all others
  size_t collectives = 0;  ///< of branches the one with the most, of loops one round
  bool is_known = true;    ///< false: some sizes only a run can tell
};
TIDEMARK_API Traffic traffic_of(const graph::Graph& graph);

}  // namespace tidemark::comm
