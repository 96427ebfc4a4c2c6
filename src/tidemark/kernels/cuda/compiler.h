// The part of the backend contract that speaks of fused programs, for GPUs.
#pragma once

#include "tidemark/kernels/fusion/compiler.h"

namespace tidemark::cuda {

const fusion::Compiler& compiler();

}  // namespace tidemark::cuda
