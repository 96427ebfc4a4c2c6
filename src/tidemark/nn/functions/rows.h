// Rows of different lengths as vectors of where they begin.
#pragma once

#include <tidemark/ops.h>

#include "tidemark/nn/shapes.h"

namespace tidemark::nn {

/// 0, then the ends: where rows of such lengths begin, and the last ends.
inline Tensor splits_of(const Tensor& lengths) { return padded(cumsum(lengths), 0, 1, 0); }
inline Tensor lengths_of(const Tensor& splits) {
  return part(splits, 0, 1) - slice(splits, vector_of({0}), shape(splits) - Tensor(int32_t{1}));
}
/// How many there are, as int64.
inline Tensor count_of(const Tensor& x) { return size(x, DType::int64); }

/// The row of each value, and its place there, as int64.
struct Places {
  Tensor row, place;
};
inline Places places_of(const Tensor& splits) {
  const Tensor lengths = cast(lengths_of(splits), DType::int64), zero(int64_t{0});
  const Tensor one(int64_t{1}), all = range(zero, count_of(lengths), one);
  const Tensor row = repeat(all, lengths, {.axis = 0});
  const Tensor begins = gather(cast(splits, DType::int64), row, {.axis = 0});
  return {row, range(zero, count_of(row), one) - begins};
}

}  // namespace tidemark::nn
