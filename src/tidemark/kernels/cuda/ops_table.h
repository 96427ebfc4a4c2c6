// Which ops device/elements.h says an element of, and over which dtypes.
#pragma once

#include <tidemark/op.h>

namespace tidemark::cuda {

struct ElementOp {
  const char* name;
  DTypeSet dtypes;
  bool is_heavy = false;  // costs much more than reading and writing the element
};

/// Null: there is no such op, or none over this dtype.
const ElementOp* find_element_op(std::string_view name, DType dtype);
/// Whether device/complex.h has the op, whose first input is of that dtype.
bool has_complex_op(std::string_view name, DType dtype);

}  // namespace tidemark::cuda
