// The queries of attention as kernels have them: which keys each one sees.
#pragma once

#include <algorithm>

#include "tidemark/kernels/cuda/device_function.h"

namespace tidemark::cuda {

/// Dimensions of the batch, one at least.
inline int attention_dims(const Shape& queries) { return std::max(1, queries.rank() - 2); }

/// AttentionLines of device/attention.h: `rows` queries of each of `items` items, from a query of
/// an item on.
inline Words attention_lines(const KernelContext& k, int64_t first_item, int64_t items,
                             int64_t first_query, int64_t rows) {
  const Shape& q = k.input(0).shape();
  const Tensor& mask = k.input(3);
  const bool is_masked = mask.rank() > 0;
  Words all = words(
      items * rows, rows, k.input(1).dim(-2), first_item, first_query, q.dim(-2),
      k.attr("scale").as_real(), k.attr("causal").as_bool(), is_masked ? mask.raw_data() : nullptr,
      is_masked && mask.dim(-2) > 1 ? mask.dim(-1) : 0, is_masked && mask.dim(-1) > 1 ? 1 : 0);
  int64_t stride = is_masked ? mask.dim(-2) * mask.dim(-1) : 0;
  Words steps;
  for (int i = 0; i < attention_dims(q); ++i) {
    const int d = q.rank() - 3 - i;
    add_word(all, d < 0 ? int64_t{1} : q[d]);
    const bool has_own = is_masked && d >= 0 && mask.dim(d) > 1;
    add_word(steps, has_own ? stride : int64_t{0});
    if (is_masked && d >= 0) stride *= mask.dim(d);
  }
  add_word(all, steps);
  return all;
}

}  // namespace tidemark::cuda
