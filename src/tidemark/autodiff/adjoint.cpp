#include "tidemark/autodiff/adjoint.h"

#include <tidemark/call.h>

namespace tidemark::autodiff {

Tensor dense(Adjoint&& adjoint) {
  if (!adjoint.is_sparse()) return std::move(adjoint.values);
  const Tensor sizes = Tensor::of(adjoint.shape.dims(), {adjoint.shape.rank()});
  Tensor out = call("gather_grad", {adjoint.indices, adjoint.values, sizes}, {{"axis", 0}});
  adjoint = {};
  return out;
}

void accumulate(Adjoint& sum, Adjoint&& more) {
  if (!sum) {
    sum = std::move(more);
    return;
  }
  if (sum.is_sparse() && more.is_sparse()) {
    sum.values = call("concat", {sum.values, more.values}, {{"axis", 0}});
    sum.indices = call("concat", {sum.indices, more.indices}, {{"axis", 0}});
    more = {};
    return;
  }
  Tensor left = dense(std::move(sum));
  sum = {};
  sum.values = std::move(left) + dense(std::move(more));
  more = {};
}

}  // namespace tidemark::autodiff
