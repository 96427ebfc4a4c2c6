// Calls of ops on devices other than the CPU.
#pragma once

#include <tidemark/op.h>

namespace tidemark::exec {

/// Runs the call where its inputs or the thread's placement say, if that is not the CPU. False:
/// nothing was done, and the call is the CPU's. Device memory that a call on the CPU has to read is
/// copied first, and the call done: true.
bool run_elsewhere(const OpCall& call, std::span<Tensor> outputs);

/// eager.cpp: on the CPU.
void run_here(const OpCall& call, std::span<Tensor> outputs);
/// eager.cpp: what the shape rule says of the outputs. Throws InternalError where a dtype is
/// missing.
void infer_outputs(const OpCall& call, InferContext& infer);
/// eager.cpp: outputs that share an input's elements; false: this op's do not.
bool make_views(const OpCall& call, const InferContext& infer, std::span<Tensor> outputs);

}  // namespace tidemark::exec
