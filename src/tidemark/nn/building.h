// What layers ask of their first input.
#pragma once

#include <tidemark/module.h>
#include <tidemark/ops.h>

#include "tidemark/memory/context.h"

namespace tidemark::nn {

/// The line that called the layer stands for all that is computed in it. The first statement of a
/// public function of this layer.
#define TIDEMARK_HERE \
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)))

/// The size of the last dimension. Throws InvalidArgumentError where it is not known.
inline int64_t last_size(std::string_view what, const Tensor& x, int least_rank = 1) {
  if (!x.shape().has_rank() || x.rank() < least_rank || x.dim(-1) == kUnknownDim) {
    fail<InvalidArgumentError>(
        "[", what, "] the input needs at least ", least_rank,
        " dimensions, of which the last is known. Received shape: ", x.shape());
  }
  return x.dim(-1);
}

/// The same of a layer's input.
inline int64_t channels_of(const Module& layer, const Tensor& x, int least_rank) {
  return last_size(layer.kind(), x, least_rank);
}

/// The same, of an input that has exactly so many dimensions.
inline int64_t channels_of_rank(const Module& layer, const Tensor& x, int rank) {
  if (x.shape().has_rank() && x.rank() != rank) {
    fail<InvalidArgumentError>("[", layer.kind(), "] the input has ", rank,
                               " dimensions, the channels last. Received shape: ", x.shape());
  }
  return channels_of(layer, x, rank);
}

/// A weight beside an input: in its dtype where that is another float, as a half type in mixed
/// precision. The weight itself stays as it is, and so does its gradient.
inline Tensor beside(const Tensor& x, const Variable& weight) {
  const Tensor value = weight.operand();
  return is_floating(x.dtype()) && value.dtype() != x.dtype() ? cast(value, x.dtype()) : value;
}

inline bool is_half(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }

/// What losses and metrics are computed of: sums of half types lose what is to be told.
inline Tensor at_least_float32(const Tensor& x) {
  return is_half(x.dtype()) ? cast(x, DType::float32) : x;
}

inline void check_positive(std::string_view kind, std::string_view what, int64_t value) {
  if (value > 0) return;
  fail<InvalidArgumentError>("[", kind, "] `", what, "` must be positive. Received: ", value);
}

}  // namespace tidemark::nn
