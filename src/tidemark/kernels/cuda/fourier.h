// Kernels of Fourier transforms.
#pragma once

#include <tidemark/kernel.h>

namespace tidemark::cuda {

/// Null: there is none.
const Kernel* find_fourier(const OpDef& op, DType key);

}  // namespace tidemark::cuda
