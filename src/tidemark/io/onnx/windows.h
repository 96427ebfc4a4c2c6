// Windows that slide over [batch, channels, spatial…], as ONNX's attributes say.
#pragma once

#include "tidemark/io/onnx/build.h"

namespace tidemark::io::onnx {

struct Sliding {
  Ints kernel, strides, dilations;
  Ints before, after;  // padding of each spatial dimension

  size_t spatial() const { return kernel.size(); }
  /// Before and after of each dimension in turn, as our ops want them.
  Ints paddings() const;
  bool is_padded() const;
};

/// Reads kernel_shape (or `kernel`), strides, dilations, pads, auto_pad and ceil_mode. Sizes of `x`
/// have to be known where padding depends on them.
Sliding sliding_of(const Call& c, const Tensor& x, Ints kernel = {});

/// [channels out, channels in / group, kernel…] to [kernel…, in / group, out].
Tensor filters_last(const Tensor& w);
/// x and filters in ONNX's layout.
Tensor convolved(const Call& c, const Tensor& x, const Tensor& w);
/// Zeros, or another number, around the spatial dimensions.
Tensor padded(const Tensor& x, const Ints& before, const Ints& after, double with = 0);

}  // namespace tidemark::io::onnx
