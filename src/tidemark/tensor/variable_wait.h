// Waiting for what another thread is doing: updating a variable, compiling a program.
#pragma once

#include <tidemark/export.h>

#include <mutex>

namespace tidemark {

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

/// Holds a mutex. A thread that has to wait for it gives away the front end's lock meanwhile: the
/// thread that is waited for may want it before it is done.
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
