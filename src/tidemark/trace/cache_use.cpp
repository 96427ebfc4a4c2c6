#include "tidemark/trace/cache_use.h"

#include <atomic>

#include "tidemark/base/settings.h"
#include "tidemark/memory/cache_registry.h"

namespace tidemark::trace {

namespace {

struct Counters {
  std::atomic<int64_t> entries{0}, bytes{0}, made{0}, evictions{0};
  memory::CacheRegistration listed{[this] {
    memory::CacheUse use;
    use.name = "traces of functions";
    use.entries = entries.load(std::memory_order_relaxed);
    use.bytes = bytes.load(std::memory_order_relaxed);
    use.capacity = trace_cache_limit();
    use.misses = made.load(std::memory_order_relaxed);
    use.evictions = evictions.load(std::memory_order_relaxed);
    return use;
  }};
};

Counters& counters() {
  static Counters& all = *new Counters;
  return all;
}

}  // namespace

void note_traces(int64_t count, int64_t bytes) {
  counters().entries.fetch_add(count, std::memory_order_relaxed);
  counters().bytes.fetch_add(bytes, std::memory_order_relaxed);
  if (count > 0) counters().made.fetch_add(count, std::memory_order_relaxed);
}

void note_eviction() { counters().evictions.fetch_add(1, std::memory_order_relaxed); }

int64_t trace_cache_limit() { return *settings::bytes(settings::kTraceCache); }

}  // namespace tidemark::trace
