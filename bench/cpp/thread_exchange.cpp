// Sixteen threads that make tensors and free those that the others made.

#include <tidemark/tidemark.h>

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "benchmark.h"

namespace bench {

namespace td = tidemark;
namespace {

constexpr int kWorkers = 16;
constexpr size_t kMailboxSize = 64;

/// Tensors sent to one worker, freed by it; when full, the sender frees the oldest instead.
class Mailbox {
 public:
  void put(td::Tensor tensor) {
    const std::lock_guard lock(mutex_);
    std::swap(tensors_[next_++ % kMailboxSize], tensor);
  }
  void empty() {
    std::array<td::Tensor, kMailboxSize> taken;
    const std::lock_guard lock(mutex_);
    taken.swap(tensors_);
  }

 private:
  std::mutex mutex_;
  std::array<td::Tensor, kMailboxSize> tensors_;
  size_t next_ = 0;
};

struct Exchange {
  std::array<Mailbox, kWorkers> mailboxes;
  std::atomic<bool> stopping{false};
  std::atomic<int64_t> made{0};

  void work(int worker) {
    std::minstd_rand random(worker + 1);
    int64_t count = 0;
    while (!stopping.load(std::memory_order_relaxed)) {
      // Mostly small, up to 64 KiB; one in 256 is of 1 to 2 MiB.
      const int64_t size = random() % 256 == 0 ? (1 << 18) + random() % (1 << 18)
                                               : 1 + random() % (1 << (random() % 15));
      mailboxes[random() % kWorkers].put(td::Tensor::uninitialized(td::DType::float32, {size}));
      ++count;
      if (count % 64 == 0) mailboxes[worker].empty();
    }
    made += count;
  }
};

/// Watches while the workers run: the largest retained, and statistics that cannot be.
struct Watch {
  double retained_of_bound = 0;
  int64_t wrong_totals = 0;

  void look() {
    const td::memory::Stats now = td::memory::stats();
    retained_of_bound =
        std::max(retained_of_bound, double(now.retained) / double(now.retained_limit));
    if (now.live < 0 || now.retained < 0 || now.live_buffers < 0) ++wrong_totals;
  }
};

}  // namespace

Figures thread_exchange(const Options& options) {
  const std::chrono::seconds duration(options.quick ? 3 : 60);
  const td::memory::Stats before = td::memory::stats();
  const int64_t old_bound = td::memory::set_retained_limit(td::MiB(32));
  Exchange exchange;
  std::vector<std::thread> workers;
  const auto end = std::chrono::steady_clock::now() + duration;
  const double start = now_ns();
  for (int i = 0; i < kWorkers; ++i) workers.emplace_back([&, i] { exchange.work(i); });
  Watch watch;
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    watch.look();
  }
  exchange.stopping = true;
  for (std::thread& worker : workers) worker.join();
  const double spent = now_ns() - start;
  for (Mailbox& mailbox : exchange.mailboxes) mailbox.empty();
  watch.look();
  const td::memory::Stats after = td::memory::stats();
  if (after.allocations - before.allocations != exchange.made) ++watch.wrong_totals;
  td::memory::set_retained_limit(old_bound);
  return {
      {"retained_of_bound", watch.retained_of_bound},
      {"live_bytes_left", std::abs(double(after.live - before.live))},
      {"live_buffers_left", std::abs(double(after.live_buffers - before.live_buffers))},
      {"wrong_totals", double(watch.wrong_totals)},
      {"exchange_ns", spent / double(exchange.made)},
  };
}

}  // namespace bench
