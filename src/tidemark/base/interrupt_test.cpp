#include "tidemark/base/interrupt.h"

#include <gtest/gtest.h>

#include <thread>

#include "tidemark/base/thread_pool.h"

namespace tidemark {
namespace {

using namespace std::chrono_literals;

/// Pieces that go on until they are stopped, ten seconds at most.
void work_long() {
  parallel_for(4, 1, [](int64_t, int64_t) {
    const auto end = Interrupt::Clock::now() + 10s;
    while (Interrupt::Clock::now() < end) check_interrupt();
  });
}

TEST(Interrupt, ADeadlineStopsAllPieces) {
  const Interrupt interrupt{.deadline = Interrupt::Clock::now() + 50ms};
  const InterruptScope scope(interrupt);
  const auto began = Interrupt::Clock::now();
  EXPECT_THROW(work_long(), DeadlineExceededError);
  EXPECT_LT(Interrupt::Clock::now() - began, 5s);
}

TEST(Interrupt, ACancelledRunStopsAllPieces) {
  std::atomic<bool> is_cancelled{false};
  const Interrupt interrupt{.is_cancelled = &is_cancelled};
  const InterruptScope scope(interrupt);
  std::thread other([&] {
    std::this_thread::sleep_for(50ms);
    is_cancelled = true;
  });
  EXPECT_THROW(work_long(), CancelledError);
  other.join();
}

struct Stopped {};

TEST(Interrupt, WhatABreathThrowsComesOutOnce) {
  int breaths = 0;
  const auto breathe = [](void* count) {
    if (++*static_cast<int*>(count) == 3) throw Stopped{};
  };
  const Interrupt interrupt{.breathe = breathe, .context = &breaths};
  const InterruptScope scope(interrupt);
  EXPECT_THROW(work_long(), Stopped);
  EXPECT_EQ(breaths, 3);  // the caller's thread alone breathes
}

TEST(Interrupt, ACallerThatWaitsForOthersBreathesToo) {
  int breaths = 0;
  const auto breathe = [](void* count) {
    if (++*static_cast<int*>(count) == 2) throw Stopped{};
  };
  const Interrupt interrupt{.breathe = breathe, .context = &breaths};
  const InterruptScope scope(interrupt);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> has_helper{false};
  const auto work = [&] {
    parallel_for(2, 1, [&](int64_t, int64_t) {
      const auto end = Interrupt::Clock::now() + 10s;
      if (std::this_thread::get_id() == caller) {  // its own piece ends when the other has begun
        while (!has_helper && Interrupt::Clock::now() < end) std::this_thread::yield();
        return;
      }
      has_helper = true;
      while (Interrupt::Clock::now() < end) check_interrupt();
    });
  };
  const int before = set_num_threads(2);
  EXPECT_THROW(work(), Stopped);
  set_num_threads(before);
}

TEST(Interrupt, WhatMustBeWholeIsNotStopped) {
  std::atomic<bool> is_cancelled{true};
  const Interrupt interrupt{.is_cancelled = &is_cancelled};
  const InterruptScope scope(interrupt);
  std::atomic<int> done{0};
  {
    const UninterruptedScope whole;
    parallel_for(100, 1, [&](int64_t, int64_t) { ++done; });
  }
  EXPECT_EQ(done, 100);
  EXPECT_THROW(parallel_for(100, 1, [&](int64_t, int64_t) { ++done; }), CancelledError);
}

}  // namespace
}  // namespace tidemark
