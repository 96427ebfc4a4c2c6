// Poison: makes reads of memory that was never written, or is gone, visible.
//
// With TIDEMARK_POISON fresh and freed data is filled with 0xa5, and so are the bytes of an arena
// whose value is dead by the plan; those of floats become NaNs, which no later step can hide. Under
// AddressSanitizer free blocks, the rounding behind a buffer's data and the parts of an arena that
// have no value are marked as unaddressable.
#pragma once

#include "tidemark/memory/core.h"

#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(start, size) ((void)(start), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(start, size) ((void)(start), (void)(size))
#endif

namespace tidemark::memory::poison {

inline constexpr int kPattern = 0xa5;
inline constexpr int kNaNs = 0xff;  // whichever float type it is

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kMarksBytes = true;
#else
inline constexpr bool kMarksBytes = false;
#endif

/// Whether the lifetimes of single values are to be watched.
inline bool is_on() noexcept { return kMarksBytes || core.poison.load(std::memory_order_relaxed); }

inline void fill(const Buffer* buffer) noexcept {
  if (core.poison) [[unlikely]]
    std::memset(buffer->data, kPattern, buffer->bytes);
}

/// Parts of a live buffer that have no value, or have one again.
inline void hide(void* data, size_t bytes) noexcept { ASAN_POISON_MEMORY_REGION(data, bytes); }
inline void show(void* data, size_t bytes) noexcept { ASAN_UNPOISON_MEMORY_REGION(data, bytes); }
/// Nobody may need them from now on.
inline void bury(void* data, size_t bytes, bool is_floating) noexcept {
  if (core.poison) std::memset(data, is_floating ? kNaNs : kPattern, bytes);
  hide(data, bytes);
}

inline void header_ready(void* header, size_t size) noexcept {
  ASAN_UNPOISON_MEMORY_REGION(header, size);
}
inline void header_freed(void* header, size_t size) noexcept {
  ASAN_POISON_MEMORY_REGION(header, size);
}

/// `room`: bytes the block or mapping has for data.
inline void block_taken(const Buffer* buffer, size_t room) noexcept {
  ASAN_UNPOISON_MEMORY_REGION(buffer->data, room);
  fill(buffer);
  ASAN_POISON_MEMORY_REGION(static_cast<char*>(buffer->data) + buffer->bytes, room - buffer->bytes);
}
inline void block_freed(const Buffer* buffer, size_t room) noexcept {
  fill(buffer);
  ASAN_POISON_MEMORY_REGION(buffer->data, room);
}

inline void mapping_taken(const Buffer* buffer, size_t room) noexcept { block_taken(buffer, room); }
/// The pages may be unmapped and mapped again by anybody: they must not stay marked.
inline void mapping_freed(const Buffer* buffer, size_t room) noexcept {
  fill(buffer);
  ASAN_UNPOISON_MEMORY_REGION(buffer->data, room);
}

}  // namespace tidemark::memory::poison
