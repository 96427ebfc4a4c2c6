// Size classes of small blocks: header and data together, in multiples of 64 bytes.
//
//   int c = class_of(300);          // the smallest class whose blocks hold 300 bytes
//   class_size(c);                  // 320
//
// Every multiple of 64 up to 1 KiB, then eight classes for each doubling: above 512 bytes at most
// an eighth of a block is rounding.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tidemark::memory {

inline constexpr size_t kPageSize = 4096;
inline constexpr size_t kBlockUnit = 64;
inline constexpr size_t kLargestBlock = 64 * 1024;
inline constexpr size_t kSmallestBlock = 128;
inline constexpr int kLinearClasses = 15;      // 128, 192, … 1024
inline constexpr int kClassesPerDoubling = 8;  // above
inline constexpr int kSizeClasses =
    kLinearClasses + kClassesPerDoubling * (std::bit_width(kLargestBlock / 1024) - 1);

/// `block_bytes` must be between kSmallestBlock and kLargestBlock.
constexpr int class_of(size_t block_bytes) {
  const size_t units = (block_bytes + kBlockUnit - 1) / kBlockUnit;
  if (units <= kLinearClasses + 1) return static_cast<int>(units) - 2;
  // units - 1 has its leading bit at `top`; the three bits below it choose among eight classes.
  const int top = std::bit_width(units - 1) - 1;
  const int step = static_cast<int>(((units - 1) >> (top - 3)) & 7);
  return kLinearClasses + (top - 4) * kClassesPerDoubling + step;
}

constexpr size_t class_size(int size_class) {
  if (size_class < kLinearClasses) return static_cast<size_t>(size_class + 2) * kBlockUnit;
  const int beyond = size_class - kLinearClasses;
  const int doubling = beyond / kClassesPerDoubling;
  const int step = beyond % kClassesPerDoubling;
  return static_cast<size_t>(kClassesPerDoubling + step + 1) << (doubling + 7);
}

/// Slabs hold blocks of one class; their sizes (powers of two, which also align them) are chosen
/// so that a slab has at least 15 blocks.
inline constexpr int kSlabKinds = 3;
inline constexpr std::array<size_t, kSlabKinds> kSlabSizes = {64 * 1024, 256 * 1024, 1024 * 1024};
constexpr int slab_kind_of(int size_class) {
  const size_t size = class_size(size_class);
  return size <= 1024 ? 0 : size <= 8192 ? 1 : 2;
}

struct ClassInfo {
  uint32_t size;
  uint32_t inverse;  // ceil(2^32 / size): turns an exact multiple of size into its index
  uint32_t blocks;   // in one slab
  uint32_t slab_size;
  int kind;
};

inline constexpr size_t kSlabHeader = 128;

inline constexpr std::array<ClassInfo, kSizeClasses> kClasses = [] {
  std::array<ClassInfo, kSizeClasses> out{};
  for (int c = 0; c < kSizeClasses; ++c) {
    const size_t size = class_size(c);
    const int kind = slab_kind_of(c);
    out[c].size = static_cast<uint32_t>(size);
    out[c].inverse = static_cast<uint32_t>(((uint64_t{1} << 32) + size - 1) / size);
    out[c].slab_size = static_cast<uint32_t>(kSlabSizes[kind]);
    out[c].blocks = static_cast<uint32_t>((kSlabSizes[kind] - kSlabHeader) / size);
    out[c].kind = kind;
  }
  return out;
}();

static_assert(class_size(kSizeClasses - 1) == kLargestBlock);

}  // namespace tidemark::memory
