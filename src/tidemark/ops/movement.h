// Shared by the definitions of the ops that move elements without computing on them.
#pragma once

#include <tidemark/call.h>
#include <tidemark/op.h>

namespace tidemark::movement {

/// False while a graph is traced: then there are a dtype and a shape, but no elements.
inline bool holds_values(const Tensor& t) { return t.impl()->buffer != nullptr; }

/// Characters of all elements together; 0 unless it is a string tensor that holds values.
int64_t characters_of(const Tensor& t);
/// Length of the longest element; 0 unless it is a string tensor that holds values.
int64_t longest_string(const Tensor& t);

/// a * b, both not negative; throws InvalidArgumentError naming `what` when it passes 2^63 - 1.
int64_t checked_multiply(int64_t a, int64_t b, std::string_view what);
int64_t checked_add(int64_t a, int64_t b, std::string_view what);

/// Product of dims [begin, end). Unknown when one of them is.
int64_t product(const Shape& shape, int begin, int end);

/// Throws unless the input is one-dimensional (or of unknown rank).
void check_vector(const InferContext& c, int input);

/// As many unknown dimensions as the integer vector `input` has elements.
Shape unknown_dims_of(const InferContext& c, int input);

/// Reads a shape: one-dimensional, no negative sizes, not more than 2^63 - 1 elements.
Shape read_shape(const InferContext& c, int input);

/// The shape `a` and `b` both describe; unknown sizes are taken from the other. Throws where they
/// differ.
Shape merge_shapes(const InferContext& c, const Shape& a, const Shape& b, int except_axis = -1);

// --- for gradients ----------------------------------------------------------------------------

Tensor ints_tensor(const Ints& values);
/// The shape of input i as a tensor: a constant where it is known, else asked from the input.
Tensor shape_tensor(const Grad& g, int i);
/// Zero of that dtype.
Tensor zero_of(DType dtype);
/// Zeros of t's shape and dtype.
Tensor zeros_of_shape(const Tensor& t);
/// The gradient that came in for output i, zeros when none did.
Tensor dy_or_zeros(const Grad& g, int i);

}  // namespace tidemark::movement
