// AddressRanges: which parts of a reserved address space are in use.
//
//   AddressRanges space(1 << 30, 256);
//   AddressRanges::Range* r = space.take(1000);   // r->offset, a multiple of 256; null: no room
//   space.put(r);                                  // neighbours that are free become one with it
//
// Free ranges stand in lists by the power of two of their size; putting one back takes no memory.
// Pure bookkeeping: touches no memory of the space.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tidemark::memory {

class AddressRanges {
 public:
  struct Range {
    size_t offset = 0;
    size_t size = 0;
    bool is_free = true;
    Range *before = nullptr, *after = nullptr;   // by address
    Range *previous = nullptr, *next = nullptr;  // free ranges of about this size
  };

  /// `alignment` is a power of two; `size` a multiple of it.
  AddressRanges(size_t size, size_t alignment);
  ~AddressRanges();
  AddressRanges(const AddressRanges&) = delete;
  AddressRanges& operator=(const AddressRanges&) = delete;

  /// The lowest addresses of the smallest list with room. Throws std::bad_alloc, with nothing
  /// changed.
  Range* take(size_t bytes);
  void put(Range* range) noexcept;

  size_t rounded(size_t bytes) const noexcept {
    return (bytes + alignment_ - 1) & ~(alignment_ - 1);
  }
  size_t largest_free() const noexcept;

 private:
  static constexpr size_t kLists = 64;
  static size_t list_of(size_t size) noexcept { return static_cast<size_t>(std::bit_width(size)); }
  void link(Range* range) noexcept;
  void unlink(Range* range) noexcept;
  void absorb(Range* range, Range* neighbour) noexcept;

  size_t alignment_;
  Range* first_;
  std::array<Range*, kLists + 1> free_{};
};

}  // namespace tidemark::memory
