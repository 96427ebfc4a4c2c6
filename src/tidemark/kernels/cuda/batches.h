// Batches of matrices that broadcast together.
#pragma once

#include <tidemark/shape.h>

namespace tidemark::cuda {

/// Which matrix of a batch of this shape item `item` of the result has.
inline int64_t item_in(const Shape& shape, const Shape& result, int64_t item) {
  int64_t at = 0, stride = 1;
  for (int d = 3; d <= result.rank(); ++d) {
    const int64_t index = item % result.dim(-d);
    item /= result.dim(-d);
    if (d > shape.rank()) continue;
    if (shape.dim(-d) != 1) at += index * stride;
    stride *= shape.dim(-d);
  }
  return at;
}

}  // namespace tidemark::cuda
