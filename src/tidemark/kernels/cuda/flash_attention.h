// Attention in half types as one kernel, and its gradient as three: scores are never in memory.
#pragma once

#include <tidemark/kernel.h>

#include "tidemark/kernels/cuda/interface.h"

namespace tidemark::cuda {

/// Null: the op, the dtype or the GPU is not one that it is for, or the user wants the other way.
/// Where sizes do not fit, the kernel found does it the other way.
const Kernel* find_flash_attention(const OpDef& op, DType key, const DeviceFacts& facts);

}  // namespace tidemark::cuda
