// Checks of indices, shared by gather and scatter kernels.
#pragma once

#include <tidemark/kernel.h>

#include <string>

#include "tidemark/base/serial_for.h"
#include "tidemark/kernels/index_layouts.h"

namespace tidemark::cpu {

/// "[1,2]": the position of element `flat` of a tensor of that shape.
inline std::string position_of(const Shape& shape, int64_t flat) {
  Shape position = shape;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    position[i] = flat % shape[i];
    flat /= shape[i];
  }
  return shape.rank() == 0 ? "" : position.to_brackets();
}

/// Throws InvalidArgumentError naming the first index that is not in [0, limit).
template <class I>
void check_indices(const KernelContext& k, const I* indices, const Tensor& tensor, int64_t limit) {
  const int64_t count = tensor.num_elements();
  bool all_good = true;
  serial_for(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      all_good &= static_cast<uint64_t>(int64_t{indices[i]}) < static_cast<uint64_t>(limit);
    }
  });
  if (all_good) return;
  for (int64_t i = 0; i < count; ++i) {
    if (static_cast<uint64_t>(int64_t{indices[i]}) < static_cast<uint64_t>(limit)) continue;
    k.fail("indices", position_of(tensor.shape(), i), " = ", indices[i], " is not in [0, ", limit,
           ")");
  }
}

/// Throws InvalidArgumentError naming the first position outside of the addressed tensor.
template <class I>
void check_points(const KernelContext& k, const PointLayout& layout, const I* indices,
                  const Shape& addressed, std::string_view what) {
  for (int64_t i = 0; i < layout.count; ++i) {
    if (i % (1 << 16) == 0) check_interrupt();
    if (layout.is_inside(indices, i)) continue;
    std::string position;
    for (int d = 0; d < layout.depth; ++d) {
      position += message(d ? ", " : "", indices[i * layout.depth + d]);
    }
    k.fail("indices[", i, "] = [", position, "] does not index into ", what, " shape ",
           addressed.to_brackets(), ": each number must be in [0, the size of its dimension)");
  }
}

}  // namespace tidemark::cpu
