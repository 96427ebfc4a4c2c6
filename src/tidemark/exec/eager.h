// Computing an op now: infer shapes, take outputs from memory/, run the kernel.
#pragma once

#include <tidemark/call.h>

namespace tidemark::exec {

/// Fills `outputs` or throws, leaving nothing behind.
TIDEMARK_API void run_eager(const OpCall& call, std::span<Tensor> outputs);

}  // namespace tidemark::exec
