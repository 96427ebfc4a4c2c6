// Windows that slide over images: what convolutions and poolings share.
#pragma once

#include <tidemark/op.h>

namespace tidemark {

/// Up to three spatial dimensions; with fewer, the leading ones have size 1.
struct Windows {
  int spatial = 0;  // as given
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1};
  int64_t kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1};
  int64_t before[3] = {}, after[3] = {};  // padding

  int first() const { return 3 - spatial; }
};

/// What the attributes "strides", "dilations" (optional), "padding" ("VALID", "SAME", "EXPLICIT")
/// and "explicit_paddings" say about images of shape [batch, spatial…, channels] and windows of
/// the given sizes. Sizes may be unknown; then so is the output's. Throws InvalidArgumentError.
Windows read_windows(const OpCall& call, const Shape& images, std::span<const int64_t> kernel);

/// [batch, windows…, channels].
Shape shape_of_windows(const Windows& w, int64_t batch, int64_t channels);

/// No two windows share a pixel.
bool are_apart(const Windows& w);

/// True unless some size is known to differ.
bool may_equal(const Shape& a, const Shape& b);

}  // namespace tidemark
