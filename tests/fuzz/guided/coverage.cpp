// g++ calls this function in each block of an instrumented file; libFuzzer reads counters in a
// section of this name. It has a function of the same name itself, which ends the process: the
// linker takes the first it meets, and that is ours.
//
// With TIDEMARK_FUZZ_BLOCKS=1 the number of blocks that were reached is told at the end.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr size_t kCounters = size_t{1} << 16;
__attribute__((section("__libfuzzer_extra_counters"), used)) uint8_t counters[kCounters];

/// Places in the code, by hash; 0: free.
std::array<std::atomic<uintptr_t>, 4 * kCounters> reached{};
std::atomic<size_t> blocks{0};

void remember(uintptr_t place, uint64_t hash) {
  for (size_t at = hash >> 46;; ++at) {
    uintptr_t there = 0;
    std::atomic<uintptr_t>& slot = reached[at % reached.size()];
    if (slot.compare_exchange_strong(there, place)) ++blocks;
    if (there == 0 || there == place) return;
  }
}

const bool is_told = [] {
  const char* told = std::getenv("TIDEMARK_FUZZ_BLOCKS");
  if (!told || *told != '1') return false;
  std::atexit([] { std::fprintf(stderr, "blocks reached: %zu\n", blocks.load()); });
  return true;
}();

}  // namespace

extern "C" __attribute__((visibility("default"))) void __sanitizer_cov_trace_pc() {
  const auto place = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  const uint64_t hash = place * 0x9E3779B97F4A7C15;
  ++counters[hash >> 48];
  if (is_told) remember(place, hash);
}

// g++ tells of comparisons of real numbers, too; libFuzzer does not take them.
extern "C" __attribute__((visibility("default"))) void __sanitizer_cov_trace_cmpf(float, float) {}
extern "C" __attribute__((visibility("default"))) void __sanitizer_cov_trace_cmpd(double, double) {}
