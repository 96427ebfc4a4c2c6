// The kernel of matmul.
#pragma once

#include <tidemark/kernel.h>

namespace tidemark::cuda {

/// Null: there is none for this dtype.
const Kernel* find_matmul(const OpDef& op, DType key);

}  // namespace tidemark::cuda
