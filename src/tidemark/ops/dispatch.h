// Where the call stack ends: the executor that computes now.
#pragma once

#include <tidemark/call.h>

namespace tidemark {

using Executor = void (*)(const OpCall& call, std::span<Tensor> outputs);

/// Set once by exec/ when the library is loaded.
void set_eager_executor(Executor executor) noexcept;

/// This thread's topmost handler; null: calls are computed now.
TIDEMARK_API CallHandler* top_handler() noexcept;

}  // namespace tidemark
