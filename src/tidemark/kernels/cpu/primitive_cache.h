// Keeps what a library made for shapes, bounded in bytes, so that ever new shapes take next to
// nothing.
//
// What was made for a shape seen for the first time is one of a few; when the shape comes again
// after others it gets a place among many, where the least recently used goes first. So images of
// ever new sizes keep a handful of primitives alive, and a training loop has all of its own from
// the third step on. What is made while a graph is compiled has such a place at once: its runs will
// ask for it.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "tidemark/kernels/making_for_runs.h"
#include "tidemark/memory/cache_registry.h"

namespace tidemark::cpu {

template <class Shape, class Made, class Hash, class Same>
class PrimitiveCache {
 public:
  using Value = std::shared_ptr<const Made>;

  PrimitiveCache(std::string name, int64_t most_bytes)
      : name_(std::move(name)), most_bytes_(most_bytes) {}

  /// make() gives a Value (null is kept, too: asking again costs as much as making one), bytes_of()
  /// the bytes of one. Making takes the library milliseconds and happens outside the lock.
  template <class Make, class BytesOf>
  Value get(const Shape& wanted, Make make, BytesOf bytes_of) {
    {
      std::list<Entry> evicted;  // destroyed after the lock is gone
      std::lock_guard lock(mutex_);
      if (const auto it = by_shape_.find(wanted); it != by_shape_.end()) {
        ++hits_;
        use_again(it->second);
        return it->second->value;
      }
      ++misses_;
      // Room is made first: what is made then takes the place of what went.
      if (new_.size() >= kMostNew && !MakingForRuns::is_on()) {
        ghosts_.push_front(new_.back().shape);
        if (ghosts_.size() > kMostGhosts) ghosts_.pop_back();
        evict_last(new_, evicted);
      }
    }
    Value made = make();
    std::list<Entry> evicted;
    std::lock_guard lock(mutex_);
    if (by_shape_.contains(wanted)) return made;  // another thread was faster
    const bool known = drop_ghost(wanted) || MakingForRuns::is_on();
    std::list<Entry>& place = known ? known_ : new_;
    place.push_front({wanted, made, bytes_of(made.get()), misses_, known});
    by_shape_.emplace(wanted, place.begin());
    bytes_ += place.front().bytes;
    while (bytes_ > most_bytes_ && known_.size() > 1) evict_last(known_, evicted);
    return made;
  }

 private:
  static constexpr size_t kMostNew = 2;
  static constexpr size_t kMostGhosts = 256;

  struct Entry {
    Shape shape;
    Value value;
    int64_t bytes;
    int64_t made_at;  // misses by then: one op asks more than once
    bool known;
  };
  using Place = typename std::list<Entry>::iterator;

  void use_again(Place entry) {
    if (entry->known) {
      known_.splice(known_.begin(), known_, entry);
    } else if (entry->made_at != misses_) {
      entry->known = true;
      known_.splice(known_.begin(), new_, entry);
    }
  }
  /// True: the shape was among the new ones before, and left a ghost.
  bool drop_ghost(const Shape& shape) {
    return ghosts_.remove_if([&](const Shape& other) { return Same()(other, shape); }) > 0;
  }
  void evict_last(std::list<Entry>& entries, std::list<Entry>& evicted) {
    bytes_ -= entries.back().bytes;
    by_shape_.erase(entries.back().shape);
    evicted.splice(evicted.begin(), entries, std::prev(entries.end()));
    ++evictions_;
  }
  memory::CacheUse use() {
    std::lock_guard lock(mutex_);
    return {name_,     static_cast<int64_t>(by_shape_.size()), bytes_, most_bytes_, hits_, misses_,
            evictions_};
  }

  const std::string name_;
  const int64_t most_bytes_;
  std::mutex mutex_;
  std::list<Entry> new_, known_;  // latest first
  std::list<Shape> ghosts_;       // shapes that left new_, latest first; nothing is kept for them
  std::unordered_map<Shape, Place, Hash, Same> by_shape_;
  int64_t bytes_ = 0, hits_ = 0, misses_ = 0, evictions_ = 0;
  memory::CacheRegistration listed_{[this] { return use(); }};
};

}  // namespace tidemark::cpu
