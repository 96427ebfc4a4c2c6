// SlabPool: blocks of the small size classes, cut from slabs that are mapped from the system.
//
// A slab is a power-of-two region aligned to its size, so that a block finds its slab by masking
// its address. Which blocks are free is a bitmap in the slab's header: free blocks are never
// written to, and pages that hold none but free blocks can be given back ("absent") while the slab
// stays. Blocks are handed out lowest address first.
//
// The pool itself makes no system call and takes no lock: the caller holds the core's lock.
#pragma once

#include "tidemark/memory/size_classes.h"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tidemark::memory {

struct Slab {
  static constexpr int kFreeWords = 8;    // up to 512 blocks
  static constexpr int kAbsentWords = 4;  // up to 256 pages

  Slab* previous;
  Slab* next;
  uint16_t size_class;
  uint16_t first_free_word;  // words before it are zero
  uint16_t free_count;
  uint16_t absent_pages;
  uint64_t free[kFreeWords];
  uint64_t absent[kAbsentWords];
  bool away;  // off the lists while its free pages are being given back

  bool page_absent(size_t page) const { return (absent[page / 64] >> (page % 64)) & 1; }
};
static_assert(sizeof(Slab) <= kSlabHeader);

/// Doubly linked, intrusive.
struct SlabList {
  Slab* head = nullptr;
  Slab* tail = nullptr;

  void push_front(Slab* slab) {
    slab->previous = nullptr;
    slab->next = head;
    (head != nullptr ? head->previous : tail) = slab;
    head = slab;
  }
  void push_back(Slab* slab) {
    slab->next = nullptr;
    slab->previous = tail;
    (tail != nullptr ? tail->next : head) = slab;
    tail = slab;
  }
  void remove(Slab* slab) {
    (slab->previous != nullptr ? slab->previous->next : head) = slab->next;
    (slab->next != nullptr ? slab->next->previous : tail) = slab->previous;
  }
};

class SlabPool {
 public:
  /// A free block of the class, or null when no slab has one or when the pages it stands on would
  /// cost more than `room` bytes.
  void* take(int size_class, int64_t room) {
    Slab* slab = partial_[size_class].head;
    if (slab == nullptr) return nullptr;
    uint32_t word = slab->first_free_word;
    while (slab->free[word] == 0) ++word;
    slab->first_free_word = static_cast<uint16_t>(word);
    const uint32_t index = word * 64 + static_cast<uint32_t>(std::countr_zero(slab->free[word]));
    const ClassInfo& info = kClasses[size_class];
    const size_t offset = kFirstBlock + size_t{index} * info.size;
    if (slab->absent_pages != 0 && !make_present(slab, offset, info.size, room)) return nullptr;
    slab->free[word] &= slab->free[word] - 1;
    if (--slab->free_count == 0) partial_[size_class].remove(slab);
    return reinterpret_cast<char*>(slab) + offset;
  }

  /// Takes a block back; true when that left a slab empty, so that it can go.
  bool put(void* block, int size_class) {
    const ClassInfo& info = kClasses[size_class];
    const auto address = reinterpret_cast<uintptr_t>(block);
    auto* slab = reinterpret_cast<Slab*>(address & ~uintptr_t{info.slab_size - 1});
    const uint64_t offset = address - reinterpret_cast<uintptr_t>(slab) - kFirstBlock;
    const auto index = static_cast<uint32_t>((offset * info.inverse) >> 32);
    const uint32_t word = index / 64;
    slab->free[word] |= uint64_t{1} << (index % 64);
    if (word < slab->first_free_word) slab->first_free_word = static_cast<uint16_t>(word);
    const uint32_t count = ++slab->free_count;
    if (slab->away) return false;
    if (count == 1) {
      partial_[size_class].push_front(slab);
    } else if (count == info.blocks && (slab->previous != nullptr || slab->next != nullptr)) {
      retire(slab);  // the last slab of a class stays, or one tensor in a loop would remake it
      return true;
    }
    return false;
  }

  bool has_free(int size_class) const { return partial_[size_class].head != nullptr; }

  /// Makes an empty slab of the right kind serve the class; false when there is none.
  bool adopt_empty(int size_class);
  /// A region just mapped, all of its pages absent but the header's, joins as an empty slab.
  void add(void* region, int kind);

  struct Region {
    void* start;
    size_t size;
  };
  /// Detaches some slab without blocks in use, to be unmapped by the caller; null when none.
  Region detach_empty();

  /// Bytes of slab pages that are present, whether in use or not.
  int64_t present_bytes() const { return present_bytes_; }
  int64_t slab_count() const { return slab_count_; }

  // Giving back free pages of slabs in use goes in two steps, since the system calls between them
  // happen without the lock: meanwhile the slab is off the lists and nothing is taken from it.
  struct Purge {
    int size_class = -1;
    int64_t slabs_left = 0;  // of the class
    Slab* slab = nullptr;
    int regions = 0;
    Region region[Slab::kAbsentWords * 32];  // free pages, as runs
  };
  /// Goes on to the next slab with free whole pages, marks them absent and lists them. False when
  /// every class had its turn.
  bool begin_purge(Purge& purge);
  /// After the system took the pages.
  void end_purge(Purge& purge);

 private:
  static constexpr size_t kFirstBlock = kSlabHeader;

  bool make_present(Slab* slab, size_t offset, size_t size, int64_t room);
  void retire(Slab* slab);
  void mark_free_pages(Purge& purge);

  SlabList partial_[kSizeClasses];  // at least one free block
  SlabList empty_[kSlabKinds];      // no block in use
  int64_t present_bytes_ = 0;
  int64_t slab_count_ = 0;
};

}  // namespace tidemark::memory
