// SpinMutex: a lock for critical sections of a few nanoseconds.
//
//   SpinMutex mutex;
//   std::lock_guard hold(mutex);
//
// Uncontended it costs two atomic instructions. Contended it spins briefly, then sleeps in the
// kernel: the holder may have been preempted, and then spinning would only keep it off its core.
#pragma once

#include <atomic>
#include <cstdint>

namespace tidemark {

class SpinMutex {
 public:
  constexpr SpinMutex() = default;
  SpinMutex(const SpinMutex&) = delete;
  SpinMutex& operator=(const SpinMutex&) = delete;

  void lock() noexcept {
    int expected = kFree;
    if (!state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire,
                                        std::memory_order_relaxed)) {
      lock_contended();
    }
  }

  bool try_lock() noexcept {
    int expected = kFree;
    return state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  void unlock() noexcept {
    if (state_.exchange(kFree, std::memory_order_release) == kHeldWithSleepers) {
      state_.notify_one();
    }
  }

 private:
  static constexpr int kFree = 0;
  static constexpr int kHeld = 1;
  static constexpr int kHeldWithSleepers = 2;
  static constexpr int kSpins = 100;

  [[gnu::noinline, gnu::cold]] void lock_contended() noexcept {
    for (int i = 0; i < kSpins; ++i) {
      if (state_.load(std::memory_order_relaxed) == kFree && try_lock()) return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    // Whoever takes the lock here marks it as slept for: there may be further sleepers, and a
    // wake-up too many is harmless while one too few is a deadlock.
    while (state_.exchange(kHeldWithSleepers, std::memory_order_acquire) != kFree) {
      state_.wait(kHeldWithSleepers, std::memory_order_relaxed);
    }
  }

  std::atomic<int> state_{kFree};
};

}  // namespace tidemark
