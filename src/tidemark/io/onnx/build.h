// Small steps that many builders take.
#pragma once

#include <tidemark/call.h>
#include <tidemark/ops.h>

#include "tidemark/io/onnx/call.h"

namespace tidemark::io::onnx {

/// While it lives, what is computed from values alone is computed at once: weights that are laid
/// out anew are not kept in the file's layout as well.
class NowIfKnown {
 public:
  template <class... T>
  explicit NowIfKnown(const T&... tensors) {
    if ((... && !tensors.is_symbolic())) now_.emplace();
  }

 private:
  std::optional<NoHandlers> now_;
};

/// A scalar of this dtype.
Tensor number(double value, DType dtype);
inline Tensor number(double value, const Tensor& like) { return number(value, like.dtype()); }
/// A vector of int64.
Tensor vector_of(std::span<const int64_t> values);
inline Tensor vector_of(std::initializer_list<int64_t> values) {
  return vector_of(std::span(values.begin(), values.size()));
}
inline Tensor as(const Tensor& x, DType dtype) { return x.dtype() == dtype ? x : cast(x, dtype); }

/// Sizes as a vector of int64: values where all are known.
Tensor shape_of(const Tensor& x);
/// One size as a scalar of int64.
Tensor dim_of(const Tensor& x, int axis);
/// The size, or ValueUnknownError.
int64_t known_dim(const Tensor& x, int axis);
/// The rank, or ValueUnknownError.
int rank_of(const Tensor& x);
int axis_of(int64_t axis, int rank);

/// Reshaped where every dimension that is -1 (at most one) follows from the others.
Tensor reshaped(const Tensor& x, std::initializer_list<int64_t> dims);
Tensor reshaped(const Tensor& x, std::span<const int64_t> dims);
/// Sizes of `x` with the dimensions [from, to) made one.
Tensor merged(const Tensor& x, int from, int to);
/// New axes of size 1, counted in the result.
Tensor unsqueezed(const Tensor& x, Ints axes);
Tensor transposed(const Tensor& x, Ints perm);
/// [batch, channels, spatial…] to [batch, spatial…, channels] and back.
Tensor channels_last(const Tensor& x);
Tensor channels_first(const Tensor& x);
/// Elements [begin, end) along the axis; end INT64_MAX: all.
Tensor sliced(const Tensor& x, int axis, int64_t begin, int64_t end);
/// The element at `index`, without the axis.
Tensor picked(const Tensor& x, int axis, int64_t index);
/// A vector of one value a channel, ready to be combined with [batch, channels, spatial…].
Tensor per_channel(const Tensor& vector, int rank, int axis = 1);
Tensor clip(const Tensor& x, double low, double high);
/// Where a symbolic tensor's value is needed now.
[[noreturn]] void fail_unknown(const Call& call, std::string_view what);

}  // namespace tidemark::io::onnx
