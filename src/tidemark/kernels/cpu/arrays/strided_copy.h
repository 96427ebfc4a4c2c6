// Copies a box of elements between two layouts: the one engine under transpose, slices, tile,
// broadcast_to, reverse, concat, pad and the rest.
//
//   StridedCopy copy(sizeof(float));
//   copy.dim(rows, columns, 1);      // outermost first: size, step in the target, in the source
//   copy.dim(columns, 1, rows);
//   copy.run(target, source);        // a transposed copy, in parallel when large
#pragma once

#include <tidemark/shape.h>

#include <cstddef>
#include <cstdint>

namespace tidemark::cpu {

/// 16 bytes that are moved as one element.
struct Bytes16 {
  uint64_t low, high;
};

/// Calls fn with a value of the unsigned type of that many bytes: 1, 2, 4, 8 or 16.
template <class Fn>
void with_element_type(size_t bytes, Fn&& fn) {
  switch (bytes) {
    case 1:
      return fn(uint8_t{});
    case 2:
      return fn(uint16_t{});
    case 4:
      return fn(uint32_t{});
    case 8:
      return fn(uint64_t{});
    default:
      return fn(Bytes16{});
  }
}

/// Bytes one piece of parallel work moves.
inline constexpr int64_t kCopyGrainBytes = 128 << 10;

class StridedCopy {
 public:
  explicit StridedCopy(size_t element_bytes) : element_bytes_(element_bytes) {}

  /// Adds a dimension inside of those so far. Steps are in elements; the source's may be 0 (each
  /// element is copied `size` times) or negative.
  void dim(int64_t size, int64_t to_step, int64_t from_step);
  /// Whole boxes: no element is written twice.
  void run(void* to, const void* from);

  int rank() const { return rank_; }

 private:
  template <class T>
  void run_rows(T* to, const T* from) const;
  template <class T>
  void run_tiles(T* to, const T* from, int across) const;

  size_t element_bytes_;
  bool empty_ = false;
  int rank_ = 0;
  int64_t size_[Shape::kMaxRank];
  int64_t to_[Shape::kMaxRank];
  int64_t from_[Shape::kMaxRank];
};

/// memcpy, by several threads when large.
void copy_bytes(void* to, const void* from, int64_t bytes);
/// Sets all bytes to zero, by several threads when large.
void zero_bytes(void* to, int64_t bytes);

}  // namespace tidemark::cpu
