// A row of a tensor as an element has it.
#pragma once

#include <tidemark/tensor.h>

namespace tidemark::data {

/// Row `number`, without the first dimension, sharing the buffer.
inline Tensor row_of(const Tensor& t, int64_t number) {
  Shape shape = t.shape();
  shape.erase(0);
  return t.rows(number, 1).reshaped(shape);
}

}  // namespace tidemark::data
