// How fast two threads copy and read memory here: what streaming ops are compared with.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>

#include "benchmark.h"

namespace bench {

/// This thread and one other, each with half of the work.
class ThreadPair {
 public:
  ThreadPair();
  ~ThreadPair();
  /// Runs work(0) here and work(1) on the other thread; returns when both are done.
  void run(const std::function<void(int half)>& work);

 private:
  void serve();

  const std::function<void(int)>* work_ = nullptr;
  std::atomic<uint32_t> asked_{0};
  std::atomic<uint32_t> done_{0};
  std::atomic<bool> stopping_{false};
  std::thread other_;
};

/// Copies with the C library's memcpy.
void copy_plain(ThreadPair& threads, float* to, const float* from, size_t count);

/// Copies with stores that bypass the caches, where the CPU has them; else as copy_plain.
void copy_streaming(ThreadPair& threads, float* to, const float* from, size_t count);

/// Reads every float once; returns their sum, so that the reading cannot be left out.
float read_all(ThreadPair& threads, const float* from, size_t count);

}  // namespace bench
