#include "tidemark/exec/idle_code.h"

#include <tidemark/error.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <string>

#include "tidemark/base/code_pages.h"
#include "tidemark/base/settings.h"

namespace tidemark::exec {

static bool is_kept() {
  static const bool kept = [] {
    const std::string what = settings::text(settings::kIdleCode);
    if (what != "unmap" && what != "keep") {
      fail<InvalidArgumentError>("Environment variable TIDEMARK_IDLE_CODE=\"", what,
                                 "\": expected unmap or keep");
    }
    return what == "keep";
  }();
  return kept;
}

void release_idle_code() {
  if (is_kept()) return;
  static constinit std::atomic<uint64_t> times{0};
  constexpr uint64_t kAlways = 32;
  constexpr std::string_view kLibraries[] = {"libtidemark", "_tidemark", "libdnnl"};
  const uint64_t time = times.fetch_add(1, std::memory_order_relaxed) + 1;
  if (time <= kAlways || std::has_single_bit(time)) release_code_pages(kLibraries);
}

}  // namespace tidemark::exec
