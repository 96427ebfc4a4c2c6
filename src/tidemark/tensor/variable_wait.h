// Waiting for what another thread is doing: updating a variable, compiling a program.
#pragma once

#include <tidemark/variable.h>

#include <mutex>

namespace tidemark {

/// The tracer of this thread; null: none.
VariableTracer* variable_tracer() noexcept;

/// Called around the waiting: the Python front end gives its lock away there, because the thread
/// that is waited for may want it before it is done.
struct WaitHooks {
  void* (*enter)() = nullptr;
  void (*leave)(void* token) = nullptr;
};
TIDEMARK_API void set_wait_hooks(WaitHooks hooks) noexcept;

/// In its scope a thread that would have to wait gets an FailedPreconditionError instead: for those
/// who look at others' values and hold what the others may want.
class TIDEMARK_API NoWaiting {
 public:
  NoWaiting() noexcept;
  ~NoWaiting();
  NoWaiting(const NoWaiting&) = delete;
  NoWaiting& operator=(const NoWaiting&) = delete;

 private:
  bool outer_;
};

/// Holds a mutex. A thread that has to wait for it gives away what it holds meanwhile.
class WaitingLock {
 public:
  explicit WaitingLock(std::mutex& mutex);
  ~WaitingLock() { mutex_.unlock(); }
  WaitingLock(const WaitingLock&) = delete;
  WaitingLock& operator=(const WaitingLock&) = delete;

 private:
  std::mutex& mutex_;
};

}  // namespace tidemark
