// This thread's stack of handlers, as those see it who ask it.
#pragma once

#include <tidemark/handler.h>

#include "tidemark/base/upcalls.h"

namespace tidemark {

namespace detail {
extern TIDEMARK_API thread_local constinit Handler* topmost
    __attribute__((tls_model("initial-exec")));
}

/// Null: everything happens now.
inline Handler* top_handler() noexcept { return detail::topmost; }

/// Who answers for steps and variables; null: they happen now.
inline LastHandler* last_handler() noexcept {
  Handler* handler = top_handler();
  while (handler && !handler->is_last()) handler = handler->below();
  return static_cast<LastHandler*>(handler);
}

/// A checked call of an op goes to the top of the stack, or is computed now.
inline void answer(const OpCall& call, std::span<Tensor> outputs) {
  if (Handler* top = top_handler()) {
    top->handle(call, outputs);
  } else {
    upcalls.run_now(call, outputs);
  }
}

}  // namespace tidemark
