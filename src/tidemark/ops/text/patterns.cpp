#include "tidemark/ops/text/patterns.h"

#include <list>
#include <mutex>

#include "tidemark/memory/cache_registry.h"

namespace tidemark::text {

namespace {

/// The least recently used pattern goes first.
class RegexCache {
 public:
  static RegexCache& instance() {
    static RegexCache* cache = new RegexCache;  // threads may outlive static objects
    return *cache;
  }

  std::shared_ptr<const Regex> get(std::string_view pattern) {
    {
      std::lock_guard lock(mutex_);
      for (auto it = recent_.begin(); it != recent_.end(); ++it) {
        if (it->pattern != pattern) continue;
        ++hits_;
        recent_.splice(recent_.begin(), recent_, it);
        return recent_.front().regex;
      }
      ++misses_;
    }
    std::shared_ptr<const Regex> made = Regex::compile(pattern);
    Entry evicted;  // destroyed after the lock is gone
    std::lock_guard lock(mutex_);
    recent_.push_front({std::string(pattern), made});
    if (recent_.size() > kEntries) {
      evicted = std::move(recent_.back());
      recent_.pop_back();
      ++evictions_;
    }
    return made;
  }

 private:
  static constexpr size_t kEntries = 8;
  struct Entry {
    std::string pattern;
    std::shared_ptr<const Regex> regex;
  };

  memory::CacheUse use() {
    std::lock_guard lock(mutex_);
    const auto entries = static_cast<int64_t>(recent_.size());
    constexpr auto kBytes = static_cast<int64_t>(Regex::kMaxBytes);  // the most each may take
    return {"regular expressions",
            entries,
            entries * kBytes,
            int64_t{kEntries} * kBytes,
            hits_,
            misses_,
            evictions_};
  }

  std::mutex mutex_;
  std::list<Entry> recent_;  // most recently used first
  int64_t hits_ = 0, misses_ = 0, evictions_ = 0;
  memory::CacheRegistration listed_{[this] { return use(); }};
};

}  // namespace

std::shared_ptr<const Regex> cached_regex(std::string_view pattern) {
  return RegexCache::instance().get(pattern);
}

}  // namespace tidemark::text
