// Kernels of single elementwise ops: programs of one instruction.
#pragma once

#include <tidemark/kernel.h>

namespace tidemark::cuda {

/// Null: there is none.
const Kernel* find_elementwise(const OpDef& op, DType key);

}  // namespace tidemark::cuda
