#include "tidemark/ops/windows.h"

namespace tidemark {

namespace {

constexpr int64_t kLargest = int64_t{1} << 31;  // of any window, stride, dilation or padding

template <class... Pieces>
[[noreturn, gnu::cold]] void refuse(const OpCall& call, const Pieces&... pieces) {
  fail<InvalidArgumentError>("[", call.op.name(), "] ", pieces...);
}

/// One positive number a spatial dimension; all 1 when the attribute is empty or not there.
void read_positive(const OpCall& call, const char* name, const Windows& w, int64_t* out) {
  if (call.op.attr_index(name) < 0) return;
  const Ints& given = call.attr(name).as_ints();
  if (given.empty()) return;
  if (static_cast<int>(given.size()) != w.spatial) {
    refuse(call, "`", name, "` needs one number for each of the ", w.spatial,
           " spatial dimensions. Received: ", call.attr(name));
  }
  for (int d = 0; d < w.spatial; ++d) {
    if (given[static_cast<size_t>(d)] < 1 || given[static_cast<size_t>(d)] >= kLargest) {
      refuse(call, "`", name, "` must be positive and below 2^31. Received: ", call.attr(name));
    }
    out[w.first() + d] = given[static_cast<size_t>(d)];
  }
}

void pad_same(Windows& w, int d) {
  if (w.in[d] == kUnknownDim) return;
  const int64_t extent = (w.kernel[d] - 1) * w.dilation[d] + 1;
  const int64_t windows = (w.in[d] + w.stride[d] - 1) / w.stride[d];
  const int64_t missing = (windows - 1) * w.stride[d] + extent - w.in[d];
  if (missing <= 0) return;
  w.before[d] = missing / 2;
  w.after[d] = missing - w.before[d];
}

void pad_explicit(const OpCall& call, Windows& w) {
  const Ints& given = call.attr("explicit_paddings").as_ints();
  if (static_cast<int>(given.size()) != 2 * w.spatial) {
    refuse(call, "padding EXPLICIT needs two numbers, before and after, for each of the ",
           w.spatial, " spatial dimensions. Received: ", call.attr("explicit_paddings"));
  }
  for (int d = 0; d < w.spatial; ++d) {
    for (int side = 0; side < 2; ++side) {
      const int64_t pad = given[static_cast<size_t>(2 * d + side)];
      if (pad < 0 || pad >= kLargest) {
        refuse(call, "paddings must be neither negative nor above 2^31. Received: ",
               call.attr("explicit_paddings"));
      }
      (side ? w.after : w.before)[w.first() + d] = pad;
    }
  }
}

void read_padding(const OpCall& call, Windows& w) {
  const std::string& padding = call.attr("padding").as_string();
  if (padding == "EXPLICIT") return pad_explicit(call, w);
  if (padding == "SAME") {
    for (int d = w.first(); d < 3; ++d) pad_same(w, d);
  } else if (padding != "VALID") {
    refuse(call, "`padding` must be \"VALID\", \"SAME\" or \"EXPLICIT\". Received: \"", padding,
           "\"");
  }
}

}  // namespace

Windows read_windows(const OpCall& call, const Shape& images, std::span<const int64_t> kernel) {
  Windows w;
  w.spatial = static_cast<int>(kernel.size());
  if (w.spatial < 1 || w.spatial > 3) {
    refuse(call, "there may be one to three spatial dimensions. Received: ", w.spatial);
  }
  if (images.has_rank() && images.rank() != w.spatial + 2) {
    refuse(call, "images of ", w.spatial, " spatial dimensions have rank ", w.spatial + 2,
           ": [batch, spatial..., channels]. Received shape: ", images);
  }
  for (int d = 0; d < w.spatial; ++d) {
    const int at = w.first() + d;
    w.in[at] = images.has_rank() ? images[d + 1] : kUnknownDim;
    w.kernel[at] = kernel[static_cast<size_t>(d)];
    if (w.in[at] >= kLargest || w.kernel[at] >= kLargest) refuse(call, "an image is too large");
    if (w.kernel[at] == 0) refuse(call, "windows must not be empty");
  }
  read_positive(call, "strides", w, w.stride);
  read_positive(call, "dilations", w, w.dilation);
  read_padding(call, w);
  for (int d = w.first(); d < 3; ++d) {
    if (w.in[d] == kUnknownDim || w.kernel[d] == kUnknownDim) {
      w.out[d] = kUnknownDim;
      continue;
    }
    const int64_t extent = (w.kernel[d] - 1) * w.dilation[d] + 1;
    const int64_t room = w.in[d] + w.before[d] + w.after[d] - extent;
    if (room < 0) {
      refuse(call, "Computed output size would be negative: a window of ", extent,
             " does not fit into ", w.in[d] + w.before[d] + w.after[d], " (input_size: ", w.in[d],
             ", effective_filter_size: ", extent, ", stride: ", w.stride[d],
             "). Use a smaller window or more padding");
    }
    w.out[d] = room / w.stride[d] + 1;
  }
  return w;
}

bool are_apart(const Windows& w) {
  for (int d = w.first(); d < 3; ++d) {
    if (w.stride[d] < (w.kernel[d] - 1) * w.dilation[d] + 1) return false;
  }
  return true;
}

Shape shape_of_windows(const Windows& w, int64_t batch, int64_t channels) {
  Shape shape{batch};
  for (int d = w.first(); d < 3; ++d) shape.push_back(w.out[d]);
  shape.push_back(channels);
  return shape;
}

bool may_equal(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return true;
  if (a.rank() != b.rank()) return false;
  for (int d = 0; d < a.rank(); ++d) {
    if (a[d] != b[d] && a[d] != kUnknownDim && b[d] != kUnknownDim) return false;
  }
  return true;
}

}  // namespace tidemark
