// Axes of reductions, as given by their attribute.
#pragma once

#include <tidemark/op.h>

namespace tidemark {

/// Sets one flag a dimension: true where an axis names it; all true when `axis` is none. Throws
/// InvalidArgumentError for an axis out of range or given twice.
void mark_axes(std::string_view op, const Attr& axis, int rank, bool* flags);

/// The shape left when the flagged dimensions go, or stay with size 1.
Shape reduced_shape(const Shape& shape, const bool* flags, bool keepdims);

/// Of outputs whose rows values tell, the dimension these are along: the attribute `axis`, or the
/// first.
int dim_of_rows(const OpCall& call, int rank);

/// Shape rule of ops with the attributes "axis" and "keepdims".
void reduction_shape_rule(InferContext& c);

}  // namespace tidemark
