// All traces of the process, in the order of their last use, bounded in bytes.
//
//   const uint64_t key = TraceCache::instance().add(bytes, [] { … drop the trace … });
//   TraceCache::instance().touch(key);
//   TraceCache::instance().remove(key);      // the owner dropped it
#pragma once

#include <tidemark/export.h>

#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <unordered_map>

namespace tidemark::trace {

/// Owns nothing: functions own their traces, and are asked to drop them. Any thread.
class TIDEMARK_API TraceCache {
 public:
  static TraceCache& instance();

  /// `drop` is called at most once, with no lock held, when the trace has to go. Traces that were
  /// used longer ago go first, until all fit or this one alone is left.
  uint64_t add(int64_t bytes, std::function<void()> drop);
  void touch(uint64_t key);
  void remove(uint64_t key);
  int64_t bytes() const;

 private:
  struct Entry {
    uint64_t key = 0;
    int64_t bytes = 0;
    std::function<void()> drop;
  };
  std::list<Entry> oldest(uint64_t but);

  mutable std::mutex mutex_;
  uint64_t last_key_ = 0;
  int64_t bytes_ = 0;
  std::list<Entry> order_;  // the one used last at the end
  std::unordered_map<uint64_t, std::list<Entry>::iterator> by_key_;
};

}  // namespace tidemark::trace
