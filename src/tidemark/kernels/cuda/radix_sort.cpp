#include "tidemark/kernels/cuda/radix_sort.h"

namespace tidemark::cuda {

namespace {

/// As device/sorting.h has them.
constexpr int kDigitBits = 4, kDigits = 16;
constexpr int64_t kTile = 2048;

}  // namespace

RadixSort::RadixSort(int64_t count, int bits)
    : count_(count),
      tiles_((count + kTile - 1) / kTile),
      passes_((bits + kDigitBits - 1) / kDigitBits),
      is_wide_(bits > 32 || count >= int64_t{1} << 32) {}

RadixSort::RadixSort(const RadixSort& other, int bits)
    : count_(other.count_),
      tiles_(other.tiles_),
      passes_((bits + kDigitBits - 1) / kDigitBits),
      is_wide_(other.is_wide_) {}

size_t RadixSort::array_bytes() const {
  const size_t bytes = static_cast<size_t>(count_) * (is_wide_ ? 8 : 4);
  return (bytes + 255) / 256 * 256;
}

size_t RadixSort::workspace() const {
  return 4 * array_bytes() + static_cast<size_t>(tiles_) * kDigits * sizeof(int64_t);
}

RadixSort::Place RadixSort::place(void* workspace, int which) const {
  char* base = static_cast<char*>(workspace) + 2 * static_cast<size_t>(which) * array_bytes();
  return {base, base + array_bytes()};
}

RadixSort::Place RadixSort::run(CudaStream& stream, void* workspace) const {
  void* counts = static_cast<char*>(workspace) + 4 * array_bytes();
  const std::vector<std::string> types = {key_type()};
  const DeviceFunction count{"sorting.h", "radix_count", types, "tm::radix_arguments"},
      add{"sorting.h", "add_counts", {}, "tm::sum_arguments"},
      put{"sorting.h", "radix_place", types, "tm::radix_arguments"};
  for (int pass = 0; pass < passes_; ++pass) {
    const Place from = place(workspace, pass % 2), to = place(workspace, (pass + 1) % 2);
    const Words arguments =
        words(from.keys, from.order, to.keys, to.order, counts, count_, tiles_, pass * kDigitBits);
    count.run_blocks(stream, tiles_, arguments);
    add.run_blocks(stream, 1, words(counts, tiles_ * kDigits));
    put.run_blocks(stream, tiles_, arguments);
  }
  return place(workspace, passes_ % 2);
}

int bits_of(int64_t most) {
  int bits = 0;
  for (; most > 0; most >>= 1) ++bits;
  return bits;
}

}  // namespace tidemark::cuda
