#include "tidemark/memory/buffer.h"

#include <tidemark/memory.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace tidemark::memory {
namespace {

/// Mostly small, some large: what an eager program asks for.
size_t mixed_size(std::minstd_rand& random) {
  const unsigned kind = random() % 100;
  if (kind < 70) return random() % 300;
  if (kind < 95) return random() % 30000;
  return random() % 600000;
}

/// Marks both ends, so that two owners of one byte are noticed.
void mark(Buffer* b, unsigned char value) {
  if (b->bytes == 0) return;
  auto* data = static_cast<unsigned char*>(b->data);
  data[0] = value;
  data[b->bytes - 1] = value;
}
bool is_marked(const Buffer* b, unsigned char value) {
  if (b->bytes == 0) return true;
  const auto* data = static_cast<const unsigned char*>(b->data);
  return data[0] == value && data[b->bytes - 1] == value;
}

/// STRESS_SECONDS makes the exchange last longer.
std::chrono::seconds exchange_time() {
  const char* text = std::getenv("STRESS_SECONDS");
  return std::chrono::seconds(text != nullptr ? std::atoi(text) : 3);
}

TEST(Stress, SixteenThreadsExchangeBuffersWithExactTotals) {
  release_retained();
  const int64_t old = set_retained_limit(MiB(8));
  const Stats before = stats();
  static constexpr size_t kSlots = 2000;
  std::vector<std::atomic<Buffer*>> slots(kSlots);
  std::atomic<bool> stop{false};
  std::atomic<int64_t> damaged{0};
  std::atomic<int64_t> allocated{0};
  std::vector<std::thread> threads;
  for (unsigned id = 0; id < 16; ++id) {
    threads.emplace_back([&, id] {
      std::minstd_rand random(id + 1);
      int64_t count = 0;
      while (!stop) {
        Buffer* mine = allocate({.bytes = mixed_size(random)});
        ++count;
        mark(mine, static_cast<unsigned char>(mine->bytes));
        Buffer* other = slots[random() % kSlots].exchange(mine);
        if (other == nullptr) continue;
        if (!is_marked(other, static_cast<unsigned char>(other->bytes))) ++damaged;
        if (random() % 8 == 0) set_holder(other, Holder::dataset);
        if (random() % 16 == 0) {
          retain(other);
          release(other);
        }
        release(other);
      }
      allocated += count;
    });
  }
  int64_t most_retained = 0;
  const auto end = std::chrono::steady_clock::now() + exchange_time();
  while (std::chrono::steady_clock::now() < end) {
    const Stats s = stats();
    EXPECT_GE(s.live, s.tensor_bytes);
    most_retained = std::max(most_retained, s.retained);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  stop = true;
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(damaged, 0);
  int64_t left = 0;
  int64_t left_bytes = 0;
  for (auto& slot : slots) {
    if (Buffer* b = slot.load()) {
      ++left;
      left_bytes += static_cast<int64_t>(b->charged);
    }
  }
  Stats after = stats();
  EXPECT_EQ(after.live_buffers - before.live_buffers, left);
  EXPECT_EQ(after.live - before.live, left_bytes);
  EXPECT_EQ(after.allocations - before.allocations, allocated);
  for (auto& slot : slots) {
    if (Buffer* b = slot.load()) release(b);
  }
  after = stats();
  EXPECT_EQ(after.live, before.live);
  EXPECT_EQ(after.tensor_bytes, before.tensor_bytes);
  // Above the bound only by what a shedding thread has in hand and pages that live blocks pin.
  EXPECT_LE(most_retained, MiB(8) + MiB(8) / 8 + KiB(640));
  EXPECT_LE(after.retained, MiB(8));
  set_retained_limit(old);
}

TEST(Stress, ResidentMemoryIsFlatOverAMillionRounds) {
  static constexpr size_t kSlots = 500;
  static constexpr int kRounds = 1000000;
  std::vector<Buffer*> slots(kSlots, nullptr);
  std::minstd_rand random(5);
  int64_t early = 0;
  for (int round = 0; round < kRounds; ++round) {
    if (round == kRounds / 100) {
      for (Buffer*& b : slots) {
        if (b != nullptr) release(b);
        b = nullptr;
      }
      release_retained();
      early = stats().resident;
    }
    Buffer*& slot = slots[random() % kSlots];
    if (slot != nullptr) release(slot);
    slot = allocate({.bytes = mixed_size(random)});
    mark(slot, 1);
  }
  for (Buffer* b : slots) {
    if (b != nullptr) release(b);
  }
  release_retained();
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const int64_t allowed = MiB(8);  // shadow memory counts as resident too
#else
  const int64_t allowed = MiB(1);
#endif
  EXPECT_LE(stats().resident, early + allowed);
}

}  // namespace
}  // namespace tidemark::memory
