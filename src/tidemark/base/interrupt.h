// Interrupt: how a run is stopped from outside, between two of its steps.
//
//   Interrupt interrupt{.is_cancelled = &session_is_closing, .deadline = soon};
//   InterruptScope scope(interrupt);
//   ... check_interrupt() throws CancelledError or DeadlineExceededError once it is due ...
#pragma once

#include <tidemark/error.h>

#include <atomic>
#include <chrono>
#include <utility>

namespace tidemark {

using CancelledError = TypedError<Code::cancelled>;
using DeadlineExceededError = TypedError<Code::deadline_exceeded>;

struct Interrupt {
  using Clock = std::chrono::steady_clock;
  const std::atomic<bool>* is_cancelled = nullptr;
  Clock::time_point deadline = Clock::time_point::max();
  int64_t milliseconds = 0;  // for the message: how long the run was given
  /// Called now and then between steps: lets others have what this thread holds meanwhile. May
  /// throw to stop the run.
  void (*breathe)() = nullptr;
  mutable uint32_t steps = 0;
  static constexpr uint32_t kStepsABreath = 1024;

  bool is_due() const noexcept {
    if (is_cancelled && is_cancelled->load(std::memory_order_relaxed)) return true;
    return deadline != Clock::time_point::max() && Clock::now() >= deadline;
  }
};

/// Of what this thread does now; null: nobody will stop it.
extern TIDEMARK_API thread_local constinit const Interrupt* thread_interrupt
    __attribute__((tls_model("initial-exec")));

/// Throws what stops this thread's run; it is due.
[[noreturn]] TIDEMARK_API void throw_interrupt(const Interrupt& interrupt);

inline void check_interrupt() {
  const Interrupt* now = thread_interrupt;
  if (!now) return;
  if (now->is_due()) [[unlikely]]
    throw_interrupt(*now);
  if (now->breathe && ++now->steps % Interrupt::kStepsABreath == 0) [[unlikely]]
    now->breathe();
}

class InterruptScope {
 public:
  explicit InterruptScope(const Interrupt& interrupt) noexcept
      : outer_(std::exchange(thread_interrupt, &interrupt)) {}
  ~InterruptScope() { thread_interrupt = outer_; }
  InterruptScope(const InterruptScope&) = delete;

 private:
  const Interrupt* outer_;
};

}  // namespace tidemark
