// A version of a model that answers requests, and what is counted about it.
#pragma once

#include <tidemark/saved_model.h>

#include <array>
#include <atomic>
#include <chrono>

namespace tidemark::serve {

using Clock = std::chrono::steady_clock;

/// Counts durations by size: 2^i microseconds.
class Histogram {
 public:
  static constexpr int kBuckets = 28;
  void add(uint64_t microseconds) {
    int bucket = 0;
    while (bucket < kBuckets - 1 && (uint64_t{1} << bucket) < microseconds) ++bucket;
    counts_[static_cast<size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
    total_.fetch_add(microseconds, std::memory_order_relaxed);
  }
  uint64_t count(int bucket) const {
    return counts_[static_cast<size_t>(bucket)].load(std::memory_order_relaxed);
  }
  uint64_t total() const { return total_.load(std::memory_order_relaxed); }
  uint64_t all() const {
    uint64_t sum = 0;
    for (int i = 0; i < kBuckets; ++i) sum += count(i);
    return sum;
  }
  /// The bound below which this part of all durations lies.
  uint64_t quantile(double part) const {
    const auto wanted = static_cast<uint64_t>(part * static_cast<double>(all()));
    uint64_t seen = 0;
    for (int i = 0; i < kBuckets; ++i) {
      seen += count(i);
      if (seen > wanted) return uint64_t{1} << i;
    }
    return 0;
  }

 private:
  std::array<std::atomic<uint64_t>, kBuckets> counts_{};
  std::atomic<uint64_t> total_{0};
};

struct ServableCounters {
  std::atomic<uint64_t> successes{0}, failures{0}, rows{0}, executions{0};
  std::atomic<uint64_t> queued{0}, queued_bytes{0}, running{0};
  std::atomic<uint64_t> last_milliseconds{0};  // since the epoch
  /// How long the last eight runs or so took; 0: there was none.
  std::atomic<uint64_t> recent_nanoseconds{0};
  /// A run took too long for a thread that reads requests, or for the lane of small ones: until
  /// these times others are spared that.
  std::atomic<Clock::time_point> off_readers_until{}, large_until{};
  Histogram total, waiting, computing;

  void add_run(Clock::duration took) {
    const auto now = static_cast<uint64_t>(std::chrono::nanoseconds(took).count()) + 1;
    const uint64_t before = recent_nanoseconds.load(std::memory_order_relaxed);
    // One that was held up for once says little of the next.
    const uint64_t counted =
        before == 0 ? now : before - before / 8 + std::min(now, 4 * before) / 8;
    recent_nanoseconds.store(counted, std::memory_order_relaxed);
    executions.fetch_add(1, std::memory_order_relaxed);
    computing.add(now / 1000);
  }
};

/// How requests are put together; sizes of 1 or less: they are not.
struct Batching {
  int64_t max_batch_size = 0;
  int64_t timeout_micros = 1000;
  std::vector<int64_t> allowed_sizes;  // ascending; batches are filled up to one of them
};

struct Servable {
  Servable(std::string model_name, int64_t number, SavedModel loaded, Batching how, size_t plan)
      : name(std::move(model_name)),
        version(number),
        model(std::move(loaded)),
        batching(std::move(how)),
        plan_bytes(plan) {}
  const std::string name;
  const int64_t version;
  const SavedModel model;
  const Batching batching;
  /// What each slot takes while it runs the model; 0: it could not be planned.
  const size_t plan_bytes;
  mutable ServableCounters counters;
};

}  // namespace tidemark::serve
