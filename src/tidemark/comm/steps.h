// Collectives on tensors. Each is one step: it happens now, or becomes a node of the graph being
// built, whose plan counts its scratch memory; steps of one group stay in the order of the program.
//
//   std::vector<Tensor> sums = comm::all_reduce(group, gradients, Reduce::sum);
//
// Where the elements of tensors are shared out, `reduce` gives each worker the sums of its part,
// and `gather` makes whole tensors of the parts.
//
// Gradients: of all_reduce by sum, reduce_scatter by sum, all_gather, broadcast and all_to_all. A
// tape that asks for others gets UnimplementedError. What stands for a variable is that variable to
// tapes.
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
/// Of the sum of each tensor this worker's part, as a vector. `of`: what they are, the same text on
/// all workers, or they are told that they differ.
TIDEMARK_API std::vector<Tensor> reduce(const GroupPtr& group, std::span<const Tensor> tensors,
                                        Reduce reduce, std::vector<Parts> parts,
                                        std::string of = {});
/// Tensors of these shapes, put together of everybody's parts, which are vectors. `stands_for`: the
/// variable that the only tensor is the value of.
TIDEMARK_API std::vector<Tensor> gather(const GroupPtr& group, std::span<const Tensor> own,
                                        std::vector<Parts> parts, std::vector<Shape> shapes,
                                        std::string of = {}, uint64_t stands_for = 0);
/// Until all workers are here.
TIDEMARK_API void barrier(const GroupPtr& group);

/// The variable whose value the node gathers of parts; 0: it does something else.
TIDEMARK_API uint64_t gathered_variable(const graph::Node& node);
/// Whether the node gives parts of sums.
TIDEMARK_API bool is_reduction(const graph::Node& node);

/// What a run of a graph takes of the network.
struct Traffic {
  size_t bytes_sent = 0;   ///< by this worker, to all others
  size_t collectives = 0;  ///< of branches the one with the most, of loops one round
  bool is_known = true;    ///< false: some sizes only a run can tell
};
TIDEMARK_API Traffic traffic_of(const graph::Graph& graph);

}  // namespace tidemark::comm
