#include "tidemark/exec/idle_code.h"

#include <atomic>
#include <bit>
#include <cstdint>

#include "tidemark/base/code_pages.h"

namespace tidemark::exec {

void release_idle_code() {
  static constinit std::atomic<uint64_t> times{0};
  constexpr uint64_t kAlways = 32;
  constexpr std::string_view kLibraries[] = {"libtidemark", "_tidemark", "libdnnl"};
  const uint64_t time = times.fetch_add(1, std::memory_order_relaxed) + 1;
  if (time <= kAlways || std::has_single_bit(time)) release_code_pages(kLibraries);
}

}  // namespace tidemark::exec
