#include "tidemark/autodiff/adjoint.h"

#include <tidemark/call.h>

namespace tidemark::autodiff {

namespace {

/// Adds the rows to a tensor that is given up: in place where nobody else shares it.
Tensor add_rows(Tensor&& sum, const Adjoint& rows) {
  static const OpDef& op = OpRegistry::instance().get("tensor_scatter_nd_add");
  const Tensor positions = call("expand_dims", {rows.indices}, {{"axis", -1}});
  const Attr attrs[] = {Attr("")};
  const Borrowed<3> inputs(sum, positions, rows.values);
  Tensor out;
  dispatch({op, inputs.span(), attrs, 1u}, {&out, 1});
  return out;
}

}  // namespace

void join(Adjoint& adjoint) {
  if (adjoint.more.empty()) return;
  std::vector<Tensor> values{adjoint.values}, indices{adjoint.indices};
  for (Adjoint& piece : adjoint.more) {
    values.push_back(std::move(piece.values));
    indices.push_back(std::move(piece.indices));
  }
  adjoint.more.clear();
  static const OpDef& concat = OpRegistry::instance().get("concat");
  const Attr axis[] = {Attr(0)};
  adjoint.values = call(concat, values, axis);
  adjoint.indices = call(concat, indices, axis);
}

Tensor dense(Adjoint&& adjoint) {
  if (!adjoint.is_sparse()) return std::move(adjoint.values);
  join(adjoint);
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
    sum.more.push_back({std::move(more.values), std::move(more.indices), {}});
    sum.becomes_dense |= more.becomes_dense;
    for (Adjoint& piece : more.more) sum.more.push_back(std::move(piece));
    more = {};
    return;
  }
  if (sum.is_sparse()) std::swap(sum, more);
  if (more.is_sparse()) {
    join(more);
    sum.values = add_rows(std::move(sum.values), more);
  } else {
    sum.values = std::move(sum.values) + std::move(more.values);
  }
  more = {};
}

}  // namespace tidemark::autodiff
