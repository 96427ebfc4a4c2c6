// Runs the loops of a reduction over a plan, on all threads.
//
// How the work is cut depends on the shape alone, and partial results are joined in order, so the
// result does not depend on the number of threads.
#pragma once

#include "tidemark/kernels/cpu/isa/reduce_loops.h"
#include "tidemark/kernels/cpu/reduce/reduce_plan.h"

namespace tidemark::cpu {

/// What to do with elements and accumulators.
struct Reducer {
  ReduceLoopPair loops;
  int64_t element_bytes;
  int64_t acc_bytes;   // at most 16
  int64_t lane_bytes;  // of one param
  void (*start)(void* acc, int64_t count);
  void (*join)(void* into, const void* from, int64_t count);
};

/// Takes the accumulators of results [first, first + count). Called from several threads.
struct ReduceFinish {
  void (*fn)(void* context, int64_t first, int64_t count, const void* acc);
  void* context;
};

/// Bytes that run_reduction needs beside inputs and outputs.
size_t reduction_workspace(const ReducePlan& plan, int64_t acc_bytes);

/// `params`: one lane value a result, or null.
void run_reduction(const ReducePlan& plan, const Reducer& reducer, const void* x,
                   const void* params, void* workspace, ReduceFinish finish);

}  // namespace tidemark::cpu
