// A gradient on its way back: dense, or rows of a larger tensor of zeros.
#pragma once

#include <tidemark/tensor.h>

#include <vector>

namespace tidemark::autodiff {

/// With `indices`: row i of `values` belongs to row indices[i] of a tensor of shape `shape`; rows
/// named several times are added up.
struct Adjoint {
  Tensor values;
  Tensor indices;
  Shape shape;
  /// Further rows of the same tensor: a loop that reads one row a round brings thousands of these.
  std::vector<Adjoint> more = {};
  /// Rows only on the way: who asks for the gradient gets all elements.
  bool becomes_dense = false;

  explicit operator bool() const { return static_cast<bool>(values); }
  bool is_sparse() const { return static_cast<bool>(indices); }
};

/// One piece of rows, where there are several.
TIDEMARK_API void join(Adjoint& adjoint);

/// All elements; the adjoint itself where it is dense.
TIDEMARK_API Tensor dense(Adjoint&& adjoint);

/// Adds `more` to `sum`, in place where nobody else shares it. Rows stay rows beside rows.
void accumulate(Adjoint& sum, Adjoint&& more);

}  // namespace tidemark::autodiff
