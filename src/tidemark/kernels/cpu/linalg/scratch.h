// Memory for Eigen's temporaries: a kernel's declared workspace, and the allocator when that is not
// enough. Eigen itself never asks the C library for the matrices it makes.
//
// What stays outside: the packing buffers of a product inside of a blocked decomposition, on the
// stack below 128 KiB, from malloc above; bounded by the cache sizes and gone when it returns.
#pragma once

#include <cstddef>

namespace tidemark::cpu {

/// While it lives, this thread's Eigen temporaries come from [memory, memory + bytes).
class ScratchScope {
 public:
  ScratchScope(void* memory, size_t bytes) noexcept;
  ~ScratchScope();
  ScratchScope(const ScratchScope&) = delete;
  ScratchScope& operator=(const ScratchScope&) = delete;

 private:
  friend void* scratch_allocate(size_t bytes);
  friend void scratch_free(void* data) noexcept;
  char* begin_;
  char* next_;
  char* end_;
  ScratchScope* outer_;
};

/// Aligned to 64. Throws ResourceExhaustedError.
void* scratch_allocate(size_t bytes);
void scratch_free(void* data) noexcept;
void* scratch_reallocate(void* data, size_t new_bytes, size_t old_bytes);

}  // namespace tidemark::cpu
