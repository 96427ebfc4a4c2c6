// Interrupt: how a run is stopped from outside, between its steps and between the pieces of a
// kernel.
//
//   Interrupt interrupt{.is_cancelled = &session_is_closing, .deadline = soon};
//   InterruptScope scope(interrupt);
//   ... check_interrupt() throws CancelledError or DeadlineExceededError once it is due ...
//
// Kernels look between the pieces of parallel_for; loops that are not cut into pieces look
// themselves, at least every 50 ms. What is being written is then half done: outputs are thrown
// away, and what must stay whole (a variable) is written in an UninterruptedScope.
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
  int64_t milliseconds = 0;  // for the message: how long the run was given; 0: it is not said
  /// Called now and then by the thread whose run it is: lets others have what the thread holds, and
  /// throws to stop the run.
  void (*breathe)(void* context) = nullptr;
  void* context = nullptr;

  bool is_due() const noexcept {
    if (is_cancelled && is_cancelled->load(std::memory_order_relaxed)) return true;
    return deadline != Clock::time_point::max() && Clock::now() >= deadline;
  }
};

/// Of what this thread does now; null: nobody will stop it.
extern TIDEMARK_API thread_local constinit const Interrupt* thread_interrupt
    __attribute__((tls_model("initial-exec")));

/// Throws what stops this thread's run, if it is due; breathes if it is time to.
TIDEMARK_API void look_at_interrupt(const Interrupt& interrupt);

/// Cheap: the clock is read once in a while.
inline void check_interrupt() {
  if (const Interrupt* now = thread_interrupt) [[unlikely]]
    look_at_interrupt(*now);
}

class InterruptScope {
 public:
  explicit InterruptScope(const Interrupt& interrupt) noexcept : InterruptScope(&interrupt) {}
  ~InterruptScope() { thread_interrupt = outer_; }
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 protected:
  explicit InterruptScope(const Interrupt* interrupt) noexcept
      : outer_(std::exchange(thread_interrupt, interrupt)) {}

 private:
  const Interrupt* outer_;
};

/// Around work that may take long: a thread without an interrupt of its own has the front end's.
class TIDEMARK_API LongWorkInterrupt : public InterruptScope {
 public:
  LongWorkInterrupt() noexcept;
};

/// Around what must not be left half done.
class TIDEMARK_API UninterruptedScope : public InterruptScope {
 public:
  UninterruptedScope() noexcept;
};

}  // namespace tidemark
