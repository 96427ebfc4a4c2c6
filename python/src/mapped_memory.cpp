#include "mapped_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace tidemark::python {

bool find_reach(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t unit,
                int64_t item, Reach& reach) {
  reach = {};
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return true;
  int64_t low = 0, high = 0, dense = 1;
  if (strides.empty()) unit = item;
  for (size_t i = sizes.size(); i-- > 0;) {
    int64_t step = 0;
    if (__builtin_mul_overflow(strides.empty() ? dense : strides[i], sizes[i] - 1, &step)) {
      return false;
    }
    int64_t& end = step < 0 ? low : high;
    if (__builtin_add_overflow(end, step, &end)) return false;
    if (__builtin_mul_overflow(dense, sizes[i], &dense)) return false;
  }
  return !__builtin_mul_overflow(low, unit, &reach.low) &&
         !__builtin_mul_overflow(high, unit, &reach.high) &&
         !__builtin_add_overflow(reach.high, item, &reach.high);
}

bool is_mapped_memory(uintptr_t address, Reach reach) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  uintptr_t start = 0, end = 0;
  if (__builtin_add_overflow(address, reach.low, &start) ||
      __builtin_add_overflow(address, reach.high, &end)) {
    return false;
  }
  unsigned char present[1024];
  for (uintptr_t at = start / page * page; at < end;) {
    const uintptr_t length = std::min<uintptr_t>(sizeof present * page, end - at);
    if (mincore(reinterpret_cast<void*>(at), length, present) != 0) return false;
    if (__builtin_add_overflow(at, length, &at)) return false;
  }
  return true;
}

}  // namespace tidemark::python
