#include "tidemark/base/spin_mutex.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace tidemark {
namespace {

TEST(SpinMutex, LetsOneThreadInAtATime) {
  SpinMutex mutex;
  int64_t count = 0;  // plain: a lost update would show
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        std::lock_guard hold(mutex);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 160000);
}

TEST(SpinMutex, WakesEverySleeper) {
  SpinMutex mutex;
  mutex.lock();
  int passed = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      std::lock_guard hold(mutex);
      ++passed;
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // by now they sleep in the kernel
  EXPECT_FALSE(mutex.try_lock());
  mutex.unlock();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(passed, 8);
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

}  // namespace
}  // namespace tidemark
