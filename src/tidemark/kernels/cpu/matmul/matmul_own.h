// Matrix products by our own loops (isa/gemm.cpp): every numeric dtype, no library.
#pragma once

#include "tidemark/kernels/cpu/matmul/matmul_problem.h"

namespace tidemark::cpu {

/// Bytes of scratch memory that run_own needs.
size_t own_workspace(const MatmulProblem& p);
/// Both matrices have elements. The rest as in run_product.
void run_own(const MatmulProblem& p, void* c, char* workspace, const Epilogue* epilogue);

}  // namespace tidemark::cpu
