// Convolutions.
#include <algorithm>

#include "tidemark/graph/node.h"
#include "tidemark/io/onnx/windows.h"

namespace tidemark::io::onnx {

Ints Sliding::paddings() const {
  Ints out;
  for (size_t i = 0; i < spatial(); ++i) {
    out.push_back(before[i]);
    out.push_back(after[i]);
  }
  return out;
}

bool Sliding::is_padded() const {
  const auto is_zero = [](int64_t p) { return p == 0; };
  return !std::all_of(before.begin(), before.end(), is_zero) ||
         !std::all_of(after.begin(), after.end(), is_zero);
}

namespace {

/// Padding that gives one window each stride; an odd one goes to the end, or to the beginning.
void pad_same(Sliding& s, const Tensor& x, bool at_end) {
  for (size_t i = 0; i < s.spatial(); ++i) {
    const int64_t size = known_dim(x, static_cast<int>(i) + 2);
    const int64_t extent = (s.kernel[i] - 1) * s.dilations[i] + 1;
    const int64_t windows = (size + s.strides[i] - 1) / s.strides[i];
    const int64_t missing = std::max<int64_t>((windows - 1) * s.strides[i] + extent - size, 0);
    s.before[i] = at_end ? missing / 2 : missing - missing / 2;
    s.after[i] = missing - s.before[i];
  }
}

/// Room for one more window where the last stride does not fit, unless it began in the padding.
void round_up(Sliding& s, const Tensor& x) {
  for (size_t i = 0; i < s.spatial(); ++i) {
    if (s.strides[i] == 1) continue;
    const int64_t size = known_dim(x, static_cast<int>(i) + 2);
    const int64_t extent = (s.kernel[i] - 1) * s.dilations[i] + 1;
    const int64_t room = size + s.before[i] + s.after[i] - extent;
    if (room < 0 || room % s.strides[i] == 0) continue;
    const int64_t start = (room / s.strides[i] + 1) * s.strides[i];
    if (start < size + s.before[i]) s.after[i] += start - room;
  }
}

}  // namespace

Sliding sliding_of(const Call& c, const Tensor& x, Ints kernel) {
  if (rank_of(x) < 2) c.fail("needs a batch and channels; it has ", rank_of(x), " dimensions");
  const auto spatial = static_cast<size_t>(rank_of(x) - 2);
  if (kernel.empty()) kernel = c.integers("kernel_shape", {});
  const Ints ones(spatial, 1);
  Sliding s{std::move(kernel), c.integers("strides", ones), c.integers("dilations", ones), {}, {}};
  const Ints pads = c.integers("pads", Ints(2 * spatial, 0));
  if (s.kernel.size() != spatial || s.strides.size() != spatial || s.dilations.size() != spatial ||
      pads.size() != 2 * spatial) {
    c.fail("kernel, strides, dilations and pads must fit the ", spatial, " spatial dimensions");
  }
  constexpr int64_t kMost = int64_t{1} << 30;
  const auto is_no_step = [](int64_t n) { return n < 1 || n > kMost; };
  const auto is_no_pad = [](int64_t n) { return n < -kMost || n > kMost; };
  for (const Ints* steps : {&s.kernel, &s.strides, &s.dilations}) {
    if (std::ranges::any_of(*steps, is_no_step)) c.fail("windows and steps must be 1 to ", kMost);
  }
  if (std::ranges::any_of(pads, is_no_pad)) c.fail("pads must be at most ", kMost);
  s.before.assign(pads.begin(), pads.begin() + static_cast<int64_t>(spatial));
  s.after.assign(pads.begin() + static_cast<int64_t>(spatial), pads.end());
  const std::string automatic = c.text("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    pad_same(s, x, automatic == "SAME_UPPER");
  } else if (automatic == "VALID") {
    s.before = s.after = Ints(spatial, 0);
  }
  if (c.integer("ceil_mode", 0)) round_up(s, x);
  return s;
}

Tensor filters_last(const Tensor& w) {
  Ints perm;
  for (int i = 2; i < rank_of(w); ++i) perm.push_back(i);
  perm.push_back(1);
  perm.push_back(0);
  return transposed(w, perm);
}

Tensor padded(const Tensor& x, const Ints& before, const Ints& after, double with) {
  Ints table{0, 0, 0, 0};
  for (size_t i = 0; i < before.size(); ++i) {
    table.push_back(before[i]);
    table.push_back(after[i]);
  }
  if (std::all_of(table.begin(), table.end(), [](int64_t p) { return p == 0; })) return x;
  const auto rows = static_cast<int64_t>(table.size() / 2);
  return pad(x, reshaped(vector_of(table), {rows, 2}), "CONSTANT", number(with, x));
}

Tensor convolved(const Call& c, const Tensor& x, const Tensor& w) {
  Ints kernel;
  for (int i = 2; i < rank_of(w); ++i) kernel.push_back(known_dim(w, i));
  const Sliding s = sliding_of(c, x, kernel);
  const Tensor images = channels_last(x), filters = filters_last(w);
  return channels_first(
      convolution(images, filters, s.strides, "EXPLICIT", s.paddings(), s.dilations));
}

namespace {

Tensor conv(const Call& c) {
  const Tensor &x = c.in(0), &w = c.in(1);
  const Tensor out = convolved(c, x, w);
  return c.has(2) ? out + per_channel(c.in(2), rank_of(out)) : out;
}

/// Where the transposed convolution's result lies: sizes, and what is cut off its ends.
struct Unrolled {
  Ints sizes, before, after;
};

Unrolled unrolled(const Call& c, const Tensor& x, const Sliding& s) {
  const size_t n = s.spatial();
  const Ints extra = c.integers("output_padding", Ints(n, 0));
  const Ints wanted = c.integers("output_shape", {});
  const std::string automatic = c.text("auto_pad", "NOTSET");
  const bool is_same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  if (extra.size() != n || (!wanted.empty() && wanted.size() != n)) {
    c.fail("output_padding and output_shape must fit the spatial dimensions");
  }
  const Ints pads = c.integers("pads", Ints(2 * n, 0));
  Unrolled out{{}, Ints(n, 0), Ints(n, 0)};
  for (size_t i = 0; i < n; ++i) {
    const int64_t in = known_dim(x, static_cast<int>(i) + 2);
    const int64_t extent = (s.kernel[i] - 1) * s.dilations[i] + 1;
    const int64_t full = s.strides[i] * (in - 1) + extra[i] + extent;
    if (wanted.empty() && !is_same) {
      out.before[i] = automatic == "VALID" ? 0 : pads[i];
      out.after[i] = automatic == "VALID" ? 0 : pads[i + n];
    } else {
      const int64_t size = wanted.empty() ? in * s.strides[i] : wanted[i];
      const int64_t cut = std::max<int64_t>(full - size, 0);
      out.before[i] = automatic == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
      if (automatic == "NOTSET") out.before[i] = cut / 2;
      out.after[i] = cut - out.before[i];
      out.sizes.push_back(size);
      continue;
    }
    out.sizes.push_back(full - out.before[i] - out.after[i]);
  }
  return out;
}

Tensor conv_transpose(const Call& c) {
  const Tensor &x = c.in(0), &w = c.in(1);
  Ints kernel;
  for (int i = 2; i < rank_of(w); ++i) kernel.push_back(known_dim(w, i));
  const auto n = kernel.size();
  const Ints ones(n, 1);
  const Sliding s{kernel, c.integers("strides", ones), c.integers("dilations", ones), {}, {}};
  const Unrolled u = unrolled(c, x, s);
  // Without the cuts first: all that the windows reach, which is what a convolution undoes.
  std::vector<Tensor> sizes{expand_dims(dim_of(x, 0), 0)};
  Ints whole;
  for (size_t i = 0; i < n; ++i) {
    whole.push_back(s.strides[i] * (known_dim(x, static_cast<int>(i) + 2) - 1) +
                    (kernel[i] - 1) * s.dilations[i] + 1);
  }
  sizes.push_back(vector_of(whole));
  sizes.push_back(vector_of({known_dim(w, 1) * c.integer("group", 1)}));
  Tensor out = channels_first(convolution_input_grad(
      concat(sizes, 0), filters_last(w), channels_last(x), s.strides, "VALID", {}, s.dilations));
  Ints beyond(n, 0);
  for (size_t i = 0; i < n; ++i) {
    const int axis = static_cast<int>(i) + 2;
    const int64_t end = u.before[i] + u.sizes[i];
    if (end > whole[i]) beyond[i] = end - whole[i];
    if (u.before[i] > 0 || end < whole[i]) {
      out = sliced(out, axis, u.before[i], std::min(end, whole[i]));
    }
  }
  out = padded(out, Ints(n, 0), beyond);
  return c.has(2) ? out + per_channel(c.in(2), rank_of(out)) : out;
}

/// One new sample a call, or many: what the window still needs of the past is handed on.
Values causal_conv_with_state(const Call& c) {
  const Tensor &x = c.in(0), &w = c.in(1);
  const int64_t k = known_dim(w, -1);
  const int64_t dilation = c.integer("dilation", 1);
  const int64_t reach = (k - 1) * dilation;
  Tensor past;
  if (c.has(3)) {
    past = c.in(3);
  } else {
    const Tensor parts[] = {expand_dims(dim_of(x, 0), 0), expand_dims(dim_of(x, 1), 0),
                            vector_of({reach})};
    past = fill(concat(parts, 0), number(0, x));
  }
  const Tensor both[] = {as(past, x.dtype()), x};
  const Tensor line = concat(both, 2);
  Tensor out = channels_first(
      convolution(channels_last(line), filters_last(w), Ints{1}, "VALID", {}, Ints{dilation}));
  if (c.has(2)) out = out + per_channel(c.in(2), 3);
  const std::string activation = c.text("activation", "none");
  if (activation == "silu" || activation == "swish") {
    out = out * sigmoid(out);
  } else if (activation != "none" && !activation.empty()) {
    c.fail("the activation ", activation, " is not known");
  }
  const Tensor length = dim_of(line, 2);
  const Tensor begin[] = {vector_of({0, 0}), expand_dims(length - Tensor(reach), 0)};
  return {out, slice(line, concat(begin, 0), vector_of({-1, -1, -1}))};
}

constexpr Entry kEntries[] = {
    {"Conv", conv},
    {"ConvTranspose", conv_transpose},
    {"CausalConvWithState", causal_conv_with_state},
};

}  // namespace

std::span<const Entry> window_entries() { return kEntries; }

}  // namespace tidemark::io::onnx
