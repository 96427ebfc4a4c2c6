// KeptMappings: freed large mappings that wait for the next request of about their size.
//
// Best fit with at most an eighth of waste; the oldest goes first when there is too much. Records
// stand in the header blocks of the buffers that were freed, so keeping one allocates nothing.
// No system calls, no lock: the caller holds the core's lock.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tidemark::memory {

struct KeptMapping {
  void* data;
  size_t size;
  KeptMapping* bin_previous;
  KeptMapping* bin_next;
  KeptMapping* newer;
  KeptMapping* older;
};

class KeptMappings {
 public:
  void add(KeptMapping* mapping) noexcept;
  /// The smallest kept mapping of at least `size` and at most `most` bytes (no more than an eighth
  /// above), detached; or null.
  KeptMapping* take(size_t size, size_t most) noexcept;
  /// The one kept longest, detached; or null.
  KeptMapping* take_oldest() noexcept;
  const KeptMapping* newest() const noexcept { return newest_; }

 private:
  static constexpr int kBinsPerDoubling = 8;
  static constexpr int kSmallestBit = 12;
  static constexpr int kBins = (48 - kSmallestBit) * kBinsPerDoubling;

  static int bin_of(size_t size) noexcept {
    const int top = std::bit_width(size) - 1;
    const int bin =
        (top - kSmallestBit) * kBinsPerDoubling + static_cast<int>((size >> (top - 3)) & 7);
    return bin < kBins ? bin : kBins - 1;
  }
  void detach(KeptMapping* mapping) noexcept;

  KeptMapping* bins_[kBins] = {};
  KeptMapping* newest_ = nullptr;
  KeptMapping* oldest_ = nullptr;
};

/// Sizes of kept mappings that went to make room for others. One that is asked for again went too
/// early: the program takes its sizes in turn.
class ForgottenSizes {
 public:
  void add(size_t size) noexcept;
  /// True once for each that was added.
  bool take(size_t size) noexcept;

 private:
  /// Sizes that meet in one place replace each other: the account is a good guess.
  struct Entry {
    size_t size = 0;
    uint32_t count = 0;
  };
  static constexpr size_t kEntries = 256;
  Entry& entry_of(size_t size) noexcept {
    return entries_[(size >> 12) * 0x9e3779b97f4a7c15 >> 56];
  }

  Entry entries_[kEntries];
};

}  // namespace tidemark::memory
