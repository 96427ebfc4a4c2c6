#include "tidemark/base/interrupt.h"

namespace tidemark {

thread_local constinit const Interrupt* thread_interrupt
    __attribute__((tls_model("initial-exec"))) = nullptr;

void throw_interrupt(const Interrupt& interrupt) {
  if (interrupt.is_cancelled && interrupt.is_cancelled->load(std::memory_order_relaxed)) {
    fail<CancelledError>("Session has been closed. The run that was under way is stopped.");
  }
  fail<DeadlineExceededError>("Timed out waiting for the run: it was given ",
                              interrupt.milliseconds,
                              " ms (timeout_in_ms). Give it more time, or ask for less");
}

}  // namespace tidemark
