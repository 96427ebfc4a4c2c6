// Work of a group that goes on beside its caller's, in the order in which it was given.
//
//   Beside beside;
//   const uint64_t ticket = beside.start([=] { … });   // on a thread that is made for the first
//   …
//   beside.finish(ticket);                             // throws what it threw
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace tidemark::comm {

class Beside {
 public:
  Beside() = default;
  ~Beside();
  Beside(const Beside&) = delete;

  uint64_t start(std::function<void()> work);
  /// Waits. Where work has failed, what comes after it is not begun and fails alike.
  void finish(uint64_t ticket);
  /// Until nothing goes on, whatever became of it. By the thread itself: nothing to wait for.
  void settle();
  bool is_here() const;

 private:
  void work();
  void wait(std::unique_lock<std::mutex>& lock, uint64_t ticket);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  uint64_t begun_ = 0, done_ = 0;  // tickets
  std::exception_ptr failure_;
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace tidemark::comm
