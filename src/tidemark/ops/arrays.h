// What is known of the ops on arrays beside their definitions.
#pragma once

#include <tidemark/op.h>

namespace tidemark::arrays {

/// True iff the shape of the elements is not known yet, or they have none.
inline bool is_blank(const Shape& array) { return array.rank() == 2 && array[1] == 0; }

/// The number in an int32 or int64 scalar that holds a value.
inline int64_t index_of(const Tensor& index, std::string_view op) {
  if (index.num_elements() != 1) {
    fail("[", op, "] the index must be a scalar; its shape is ", index.shape());
  }
  return index.dtype() == DType::int32 ? *index.data<int32_t>() : *index.data<int64_t>();
}

/// The same for an element that the array has. Rules and kernels ask: where a graph knows the sizes
/// and not the index, no rule sees it.
inline int64_t place_in(int64_t rows, const Tensor& index, std::string_view op) {
  const int64_t place = index_of(index, op);
  if (place < 0 || place >= rows) {
    fail("[", op, "] Trying to ", op == "array_write" ? "modify" : "access", " element ", place,
         " in a list with ", rows, " elements.");
  }
  return place;
}

/// True iff the op's first output is its first input with more rows or fewer, which stay where they
/// are: it may take over the input's buffer when that dies.
TIDEMARK_API bool is_resizing(const OpDef& op);

/// The gradients of array_write by the array, empty where it had no elements, and by the value.
/// `gives_up_dy`: it may be written over where nobody else shares it, so that the way back through
/// a loop costs a row each round.
TIDEMARK_API std::vector<Tensor> write_gradient(const Shape& array, const Tensor& index,
                                                const Tensor& dy, bool gives_up_dy);

}  // namespace tidemark::arrays
