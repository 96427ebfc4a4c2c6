#include "tidemark/trace/trace_cache.h"

#include "tidemark/trace/cache_use.h"

namespace tidemark::trace {

TraceCache& TraceCache::instance() {
  static auto* const cache = new TraceCache;  // outlives the functions of static variables
  return *cache;
}

uint64_t TraceCache::add(int64_t bytes, std::function<void()> drop) {
  uint64_t key = 0;
  {
    const std::lock_guard lock(mutex_);
    key = ++last_key_;
    order_.push_back({key, bytes, std::move(drop)});
    by_key_.emplace(key, std::prev(order_.end()));
    bytes_ += bytes;
  }
  note_traces(1, bytes);
  for (Entry& gone : oldest(key)) {
    note_traces(-1, -gone.bytes);
    note_eviction();
    gone.drop();
  }
  return key;
}

/// Taken out: what is too much.
std::list<TraceCache::Entry> TraceCache::oldest(uint64_t but) {
  const std::lock_guard lock(mutex_);
  const int64_t limit = trace_cache_limit();
  std::list<Entry> out;
  while (bytes_ > limit && order_.front().key != but) {
    bytes_ -= order_.front().bytes;
    by_key_.erase(order_.front().key);
    out.splice(out.end(), order_, order_.begin());
  }
  return out;
}

void TraceCache::touch(uint64_t key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) order_.splice(order_.end(), order_, found->second);
}

void TraceCache::remove(uint64_t key) {
  std::list<Entry> gone;  // destroyed without the lock
  {
    const std::lock_guard lock(mutex_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return;
    bytes_ -= found->second->bytes;
    gone.splice(gone.end(), order_, found->second);
    by_key_.erase(found);
  }
  note_traces(-1, -gone.front().bytes);
}

int64_t TraceCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace tidemark::trace
