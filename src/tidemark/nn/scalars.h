// Numbers as scalars of another tensor's dtype.
#pragma once

#include <tidemark/ops.h>

namespace tidemark::nn {

inline Tensor number(double value, const Tensor& like) {
  return like.dtype() == DType::float32 ? Tensor(static_cast<float>(value))
                                        : cast(Tensor(value), like.dtype());
}

}  // namespace tidemark::nn
