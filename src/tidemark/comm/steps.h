// Collectives on tensors. Each is one step: it happens now, or becomes a node of the graph being
// built, whose plan counts its scratch memory; steps of one group stay in the order of the program.
//
//   std::vector<Tensor> sums = comm::all_reduce(group, gradients, Reduce::sum);
//
// Gradients: of all_reduce by sum, reduce_scatter by sum, all_gather, broadcast and all_to_all. A
// tape that asks for others gets UnimplementedError.
#pragma once

#include <tidemark/tensor.h>

#include "tidemark/comm/group.h"

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
/// Until all workers are here.
TIDEMARK_API void barrier(const GroupPtr& group);

}  // namespace tidemark::comm
