#include "tidemark/ops/axes.h"

namespace tidemark {

void mark_axes(std::string_view op, const Attr& axis, int rank, bool* flags) {
  for (int d = 0; d < rank; ++d) flags[d] = axis.is_none();
  if (axis.is_none()) return;
  for (const int64_t given : axis.as_ints()) {
    if (given < -rank || given >= rank) {
      fail("[", op, "] Invalid reduction dimension ", given, " for input with ", rank,
           " dimension(s); allowed are ", -rank, " to ", rank - 1);
    }
    const int64_t d = given < 0 ? given + rank : given;
    if (flags[d]) {
      fail("[", op, "] Invalid reduction arguments: Axes contains duplicate dimension: ", d,
           "; name each axis once");
    }
    flags[d] = true;
  }
}

Shape reduced_shape(const Shape& shape, const bool* flags, bool keepdims) {
  Shape out;
  for (int d = 0; d < shape.rank(); ++d) {
    if (!flags[d]) {
      out.push_back(shape[d]);
    } else if (keepdims) {
      out.push_back(1);
    }
  }
  return out;
}

int dim_of_rows(const OpCall& call, int rank) {
  const int attr = call.op.attr_index("axis");
  const Attr* axis = attr < 0 ? nullptr : &call.attrs[static_cast<size_t>(attr)];
  if (!axis || axis->is_none()) return 0;
  const auto dim = static_cast<int>(axis->as_int());
  return dim < 0 ? dim + rank : dim;
}

void reduction_shape_rule(InferContext& c) {
  const Shape& shape = c.shape(0);
  const Attr& axis = c.attr("axis");
  const bool keepdims = c.attr("keepdims").as_bool();
  if (!shape.has_rank()) {
    c.set(0, axis.is_none() && !keepdims ? Shape() : Shape::unknown());
    return;
  }
  bool flags[Shape::kMaxRank];
  mark_axes(c.op_name(), axis, shape.rank(), flags);
  c.set(0, reduced_shape(shape, flags, keepdims));
}

}  // namespace tidemark
