// Products of float32 and float64 matrices by our own loops (isa/product.cpp).
//
// Each element of C is summed up in the order of k, one step after the other, however the product
// is cut: the bits of the result depend neither on the number of threads nor on an epilogue, and
// tiles may be whatever is fastest on this machine.
#pragma once

#include "tidemark/kernels/cpu/matmul/matmul_problem.h"

namespace tidemark::cpu {

inline bool has_float_loops(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float64;
}

/// Bytes of scratch memory that run_float needs: for each thread a slab of B, where B is packed,
/// and a part of C, where C has no place.
size_t float_workspace(const MatmulProblem& p, bool in_parts = false);
/// m, n and k are at least 1. C null: the epilogue, which takes parts of rows then, sees it in
/// parts. The rest as in run_product.
void run_float(const MatmulProblem& p, void* c, char* workspace, const Epilogue* epilogue);

}  // namespace tidemark::cpu
