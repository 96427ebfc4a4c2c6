// Computing an op now: infer shapes, take outputs from memory/, run the kernel.
#pragma once

#include <tidemark/call.h>

namespace tidemark::exec {

/// Called around kernels that run longer than a few microseconds: the Python front end gives its
/// lock away there.
struct LongWorkHooks {
  void* (*enter)() = nullptr;
  void (*leave)(void* token) = nullptr;
};
TIDEMARK_API void set_long_work_hooks(LongWorkHooks hooks) noexcept;

/// Fills `outputs` or throws, leaving nothing behind.
TIDEMARK_API void run_eager(const OpCall& call, std::span<Tensor> outputs);

}  // namespace tidemark::exec
