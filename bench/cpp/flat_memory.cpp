// Ten million eager ops of mixed sizes; the process's memory is sampled a hundred times.

#include <tidemark/tidemark.h>

#include <cmath>
#include <vector>

#include "benchmark.h"

namespace bench {

namespace td = tidemark;
namespace {

constexpr int64_t kOps = 10'000'000;
constexpr int64_t kLargeEvery = 1000;
constexpr int kSmallSlots = 56;  // 1 to 13,777 floats, each 2^(1/4) larger than the one before
constexpr int64_t kLargeSizes[] = {1 << 16, 1 << 18};

std::vector<td::Tensor> held_tensors() {
  std::vector<td::Tensor> held;
  const auto hold = [&](int64_t size) { held.push_back(td::ones({size})); };
  for (int slot = 0; slot < kSmallSlots; ++slot) hold(int64_t(std::exp2(slot / 4.0)));
  for (const int64_t size : kLargeSizes) hold(size);
  return held;
}

td::Tensor next_of(const td::Tensor& t, int64_t turn) {
  switch (turn % 5) {
    case 0:
      return td::add(t, t);
    case 1:
      return td::multiply(t, td::Tensor(0.5f));
    case 2:
      return td::relu(t);
    case 3:
      return td::add(td::max(t), t);
    default:
      return td::subtract(t.reshaped({1, t.num_elements()}), td::Tensor(1.f)).reshaped(t.shape());
  }
}

}  // namespace

Figures flat_memory(const Options& options) {
  const int64_t count = options.quick ? kOps / 20 : kOps;
  const int64_t sample_every = count / 100;
  std::vector<td::Tensor> held = held_tensors();
  int64_t lowest = INT64_MAX, highest = 0;
  const double start = now_ns();
  for (int64_t i = 0; i < count; ++i) {
    // A walk over the sizes in which neighbours in time differ in size; now and then a large one.
    const bool is_large = i % kLargeEvery == 0;
    const int64_t slot = is_large ? kSmallSlots + i / kLargeEvery % 2 : i * 7919 % kSmallSlots;
    held[slot] = next_of(held[slot], i);
    if ((i + 1) % sample_every == 0) {
      const int64_t resident = resident_bytes();
      lowest = std::min(lowest, resident);
      highest = std::max(highest, resident);
    }
  }
  return {{"spread_mib", double(highest - lowest) / (1 << 20)},
          {"op_ns", (now_ns() - start) / double(count)}};
}

}  // namespace bench
