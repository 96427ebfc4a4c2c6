#include "tidemark/base/interrupt.h"

#include "tidemark/base/attached.h"

namespace tidemark {

thread_local constinit const Interrupt* thread_interrupt
    __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

constinit const Interrupt never;

thread_local constinit uint64_t last_look __attribute__((tls_model("initial-exec"))) = 0;

/// A clock that takes a few nanoseconds to read; at least 10^9 a second.
uint64_t ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<uint64_t>(Interrupt::Clock::now().time_since_epoch().count());
#endif
}

constexpr uint64_t kTicksALook = 2'000'000;  // 2 ms at most

[[noreturn, gnu::cold]] void stop(const Interrupt& interrupt) {
  if (interrupt.is_cancelled && interrupt.is_cancelled->load(std::memory_order_relaxed)) {
    fail<CancelledError>("Session has been closed. The run that was under way is stopped.");
  }
  if (interrupt.milliseconds == 0) {
    fail<DeadlineExceededError>("the run went on past its deadline and was stopped");
  }
  fail<DeadlineExceededError>("Timed out waiting for the run: it was given ",
                              interrupt.milliseconds,
                              " ms (timeout_in_ms). Give it more time, or ask for less");
}

}  // namespace

void look_at_interrupt(const Interrupt& interrupt) {
  if (interrupt.is_cancelled && interrupt.is_cancelled->load(std::memory_order_relaxed)) {
    stop(interrupt);
  }
  const uint64_t now = ticks();
  if (now - last_look < kTicksALook) return;
  last_look = now;
  if (interrupt.is_due()) stop(interrupt);
  if (interrupt.breathe) interrupt.breathe(interrupt.context);
}

LongWorkInterrupt::LongWorkInterrupt() noexcept
    : InterruptScope(thread_interrupt ? thread_interrupt : front_end().interrupt) {}

UninterruptedScope::UninterruptedScope() noexcept : InterruptScope(never) {}

}  // namespace tidemark
