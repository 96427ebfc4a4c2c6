// Calls of ops on devices other than the CPU.
#pragma once

#include <tidemark/op.h>

#include "tidemark/tensor/storage.h"

namespace tidemark::exec {

/// Runs the call where its inputs or the thread's placement say, if that is not the CPU. False:
/// nothing was done, and the call is the CPU's. Device memory that a call on the CPU has to read is
/// copied first, and the call done: true.
bool run_elsewhere(const OpCall& call, std::span<Tensor> outputs);

/// Inputs behind these are never taken over: a definition says so for this many.
inline constexpr size_t kMostTakenOver = 32;
/// Whether input i dies with the call and the op may write a result there.
inline bool may_take_over(const OpCall& call, size_t i) {
  const Tensor& t = call.inputs[i];
  return ((call.donated >> i) & 1u) && call.op.may_write_into(static_cast<int>(i)) &&
         t.num_elements() > 0 && t.is_unique();
}
/// A new handle on the elements of such an input: another value from now on.
inline Tensor taken_over(const Tensor& input) {
  input.impl()->id.store(0, std::memory_order_relaxed);
  return input;
}

/// eager.cpp: on the CPU.
void run_here(const OpCall& call, std::span<Tensor> outputs);
/// eager.cpp: what the shape rule says of the outputs. Throws InternalError where a dtype is
/// missing.
void infer_outputs(const OpCall& call, InferContext& infer);
/// eager.cpp: outputs that share an input's elements; false: this op's do not.
bool make_views(const OpCall& call, const InferContext& infer, std::span<Tensor> outputs);

}  // namespace tidemark::exec
