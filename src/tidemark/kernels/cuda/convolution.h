// Convolutions and their gradients, as kernels of GPUs.
#pragma once

#include <tidemark/kernel.h>

namespace tidemark::cuda {

/// Null: it is none.
const Kernel* find_convolution(const OpDef& op, DType key);

}  // namespace tidemark::cuda
