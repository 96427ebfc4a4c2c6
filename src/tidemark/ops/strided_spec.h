// What a strided slice means for one input shape: shared by the shape rules and the kernels.
#pragma once

#include <tidemark/op.h>

namespace tidemark::movement {

/// Element i of an int32 or int64 tensor.
inline int64_t int_at(const Tensor& t, int64_t i) {
  return t.dtype() == DType::int32 ? static_cast<const int32_t*>(t.raw_data())[i]
                                   : static_cast<const int64_t*>(t.raw_data())[i];
}

struct SliceMasks {
  int64_t begin = 0, end = 0, ellipsis = 0, new_axis = 0, shrink_axis = 0;
  static SliceMasks of(const OpCall& call);
};

/// begin, end and strides resolved against an input: no masks, nothing negative but strides.
/// Made without the heap, so that kernels may make one.
struct StridedSpec {
  struct Dim {
    int64_t begin;   // of the first element taken; in range unless size is 0
    int64_t stride;  // never 0
    int64_t size;    // elements taken; kUnknownDim when that is not known yet
  };
  int rank = 0;               // of the input
  Dim dims[Shape::kMaxRank];  // the first `rank` are set
  int out_rank = 0;
  int64_t out[Shape::kMaxRank];  // the first `out_rank` are set

  /// True iff the elements taken lie one after another from `offset` on.
  bool is_contiguous(const Shape& input, int64_t& offset) const;
  Shape out_shape() const { return Shape(std::span<const int64_t>(out, size_t(out_rank))); }
};

/// begin, end and strides are one-dimensional and equally long; they hold values unless tracing.
/// Throws InvalidArgumentError with `op` in front. The input shape has a rank.
void resolve_strided_slice(StridedSpec& spec, std::string_view op, const Shape& input,
                           const Tensor& begin, const Tensor& end, const Tensor& strides,
                           const SliceMasks& masks);

}  // namespace tidemark::movement
