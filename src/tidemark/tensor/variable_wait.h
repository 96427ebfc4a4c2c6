// Waiting for a variable that another thread is updating.
#pragma once

#include <tidemark/variable.h>

namespace tidemark {

/// The tracer of this thread; null: none.
VariableTracer* variable_tracer() noexcept;

/// Called around the waiting: the Python front end gives its lock away there, because the thread
/// that updates may want it before it is done.
struct WaitHooks {
  void* (*enter)() = nullptr;
  void (*leave)(void* token) = nullptr;
};
TIDEMARK_API void set_wait_hooks(WaitHooks hooks) noexcept;

}  // namespace tidemark
