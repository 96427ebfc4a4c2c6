#include "tidemark/nn/shapes.h"

#include <tidemark/ops.h>

namespace tidemark::nn {

Tensor sizes_of(const Tensor& x) {
  if (!x.shape().is_fully_known()) return shape(x);
  std::vector<int32_t> sizes(x.shape().begin(), x.shape().end());
  return Tensor::of(std::span<const int32_t>(sizes), {x.rank()});
}

Tensor size_at(const Tensor& x, int axis) {
  if (x.shape().has_rank() && x.shape()[axis] != kUnknownDim) {
    return Tensor(static_cast<int32_t>(x.shape()[axis]));
  }
  return gather(shape(x), Tensor(axis));
}

}  // namespace tidemark::nn
