// Moves filters into the layout a library wants, and their gradients out of it, on all threads.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/kernels/cpu/dnnl/interface.h"

namespace tidemark::cpu {

class FilterLayout {
 public:
  /// Knows nothing.
  FilterLayout() = default;
  /// The last `reversed` dimensions are walked backwards on the plain side.
  FilterLayout(const TidemarkDnnlLayout& layout, int reversed, int64_t element_size);

  bool known() const { return !inside_.empty(); }
  void into(const void* plain, void* blocked) const;
  /// The sum of `parts` filters of floats, `stride` bytes apart.
  void sum_out_of(const char* blocked, int64_t parts, int64_t stride, float* plain) const;

 private:
  static constexpr int kMostDimensions = 7;     // one more than any filter has
  static constexpr int64_t kMostInside = 1024;  // elements of a block
  void walk_rows_together();
  /// Calls block(plain offset, blocked offset) for every block.
  template <class Block>
  void for_blocks(Block block) const;
  template <class T>
  void gather(const T* plain, T* blocked) const;

  int rank_ = 0;
  int64_t element_size_ = 0, count_ = 1, first_ = 0;
  int64_t sizes_[kMostDimensions] = {};  // in blocks
  int64_t plain_strides_[kMostDimensions] = {}, strides_[kMostDimensions] = {};
  std::vector<int64_t> inside_;  // plain offsets of a block's elements
  int64_t run_ = 1;              // elements of a block that lie side by side in both
};

}  // namespace tidemark::cpu
