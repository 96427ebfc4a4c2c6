// Counting characters, for shape rules of ops that make strings.
#pragma once

#include <tidemark/tensor.h>

namespace tidemark {

/// Characters of all elements once the tensor is broadcast to `count` elements; 0 while a graph is
/// traced and there are none yet.
inline int64_t characters(const Tensor& t, int64_t count) {
  if (!t.impl()->buffer) return 0;
  int64_t sum = 0;
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    sum += static_cast<int64_t>(t.string_at(i).size());
  }
  return t.num_elements() == 0 ? 0 : sum * (count / t.num_elements());
}

}  // namespace tidemark
