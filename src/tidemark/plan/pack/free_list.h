// The free blocks below the top of an arena that grows, as an allocator would keep them.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace tidemark::plan {

class FreeList {
 public:
  explicit FreeList(int64_t bottom) : top_(bottom) {}

  /// The start of the tightest free block that holds `size` bytes at a multiple of `alignment`,
  /// now taken; else at the top, which grows.
  int64_t take(int64_t size, int64_t alignment) {
    // A block of the right size may start badly; looking at a few more keeps this logarithmic.
    int looks = 8;
    for (auto at = by_size_.lower_bound({size, 0}); at != by_size_.end() && looks-- > 0; ++at) {
      const auto [free, begin] = *at;
      const int64_t offset = aligned(begin, alignment);
      if (offset + size <= begin + free) {
        erase(begin, free);
        insert(begin, offset - begin);
        insert(offset + size, begin + free - offset - size);
        return offset;
      }
    }
    int64_t begin = top_;
    if (!by_offset_.empty()) {
      const auto last = std::prev(by_offset_.end());
      if (last->first + last->second == top_) {
        begin = last->first;
        erase(begin, top_ - begin);
      }
    }
    const int64_t offset = aligned(begin, alignment);
    insert(begin, offset - begin);
    top_ = offset + size;
    return offset;
  }

  /// Joins the block with its free neighbours.
  void give_back(int64_t offset, int64_t size) {
    const auto above = by_offset_.lower_bound(offset);
    int64_t begin = offset;
    int64_t end = offset + size;
    if (above != by_offset_.end() && above->first == end) {
      end += above->second;
      erase(offset + size, end - offset - size);
    }
    const auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.begin()) {
      const auto below = std::prev(next);
      if (below->first + below->second == offset) {
        begin = below->first;
        erase(begin, offset - begin);
      }
    }
    insert(begin, end - begin);
  }

 private:
  static int64_t aligned(int64_t offset, int64_t alignment) {
    return (offset + alignment - 1) / alignment * alignment;
  }
  void insert(int64_t begin, int64_t size) {
    if (size == 0) return;
    by_offset_.emplace(begin, size);
    by_size_.emplace(size, begin);
  }
  void erase(int64_t begin, int64_t size) {
    by_offset_.erase(begin);
    by_size_.erase({size, begin});
  }

  int64_t top_;
  std::map<int64_t, int64_t> by_offset_;
  std::set<std::pair<int64_t, int64_t>> by_size_;
};

}  // namespace tidemark::plan
