// Where a broadcast input's element lies, one element at a time: for kernels that are not in haste.
#pragma once

#include <tidemark/shape.h>

namespace tidemark::cpu {

/// Offset in a dense tensor of shape `in` of the element that output element `index` reads.
inline int64_t broadcast_offset(const Shape& in, const Shape& out, int64_t index) {
  int64_t offset = 0, stride = 1;
  for (int d = out.rank() - 1; d >= out.rank() - in.rank(); --d) {
    const int64_t size = in[d - (out.rank() - in.rank())];
    if (size != 1) offset += index % out[d] * stride;
    stride *= size;
    index /= out[d];
  }
  return offset;
}

}  // namespace tidemark::cpu
