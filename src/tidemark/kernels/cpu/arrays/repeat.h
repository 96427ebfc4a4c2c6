// Filling memory with copies of one element.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tidemark::cpu {

/// Fills `bytes` with copies of the `size` bytes at `value`, which divide them: what is there is
/// copied on, twice as much each time until a block is full, then block by block.
inline void repeat_bytes(void* to, int64_t bytes, const void* value, int64_t size) {
  constexpr int64_t kBlock = 4096;
  if (bytes <= 0) return;
  char* out = static_cast<char*>(to);
  std::memcpy(out, value, static_cast<size_t>(size));
  for (int64_t done = size; done < bytes;) {
    const int64_t more = std::min({done, bytes - done, kBlock});
    std::memcpy(out + done, out, static_cast<size_t>(more));
    done += more;
  }
}

}  // namespace tidemark::cpu
