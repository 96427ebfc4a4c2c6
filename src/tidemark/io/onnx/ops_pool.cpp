// Poolings.
#include <algorithm>
#include <cmath>

#include "tidemark/io/onnx/windows.h"

namespace tidemark::io::onnx {

namespace {

Ints spatial_axes(const Tensor& x) {
  Ints axes;
  for (int i = 2; i < rank_of(x); ++i) axes.push_back(i);
  return axes;
}

bool is_pooled_as_is(DType dtype) {
  return (kFloats | dtype_set(DType::int32, DType::int64)).contains(dtype);
}

/// Positions in [spatial…, channels] of one image, turned into positions in the whole tensor.
Tensor positions(const Call& c, const Tensor& x, const Tensor& found) {
  const int rank = rank_of(x);
  const Tensor channels = dim_of(x, 1);
  const Tensor channel = floormod(found, channels);
  Tensor place = floordiv(found, channels);
  if (c.integer("storage_order", 0) && rank == 4) {
    const Tensor height = dim_of(x, 2), width = dim_of(x, 3);
    place = floormod(place, width) * height + floordiv(place, width);
  }
  const Tensor image = range(Tensor(int64_t{0}), dim_of(x, 0), Tensor(int64_t{1}));
  Tensor pixels = dim_of(x, 2);
  for (int i = 3; i < rank; ++i) pixels = pixels * dim_of(x, i);
  return (per_channel(image, rank, 0) * channels + channel) * pixels + place;
}

Values max_pool_node(const Call& c) {
  const Tensor& x = c.in(0);
  const Sliding s = sliding_of(c, x);
  const Tensor wide = is_pooled_as_is(x.dtype()) ? x : as(x, DType::int32);
  const Tensor images = channels_last(wide);
  if (!c.wants(1)) {
    const Tensor out = max_pool(images, s.kernel, s.strides, "EXPLICIT", s.paddings(), s.dilations);
    return {as(channels_first(out), x.dtype())};
  }
  const std::vector<Tensor> found =
      max_pool_with_argmax(images, s.kernel, s.strides, "EXPLICIT", s.paddings(), s.dilations);
  return {as(channels_first(found[0]), x.dtype()),
          positions(c, x, channels_first(as(found[1], DType::int64)))};
}

Tensor average_pool(const Call& c) {
  Tensor x = c.in(0);
  Sliding s = sliding_of(c, x);
  if (c.integer("count_include_pad", 0)) {
    // What the attribute pads counts; what a last window overhangs does not.
    const size_t n = s.spatial();
    Ints pads = c.integers("pads", Ints(2 * n, 0));
    const std::string automatic = c.text("auto_pad", "NOTSET");
    Ints before(pads.begin(), pads.begin() + static_cast<int64_t>(n));
    Ints after(pads.begin() + static_cast<int64_t>(n), pads.end());
    if (automatic != "NOTSET") {
      before = s.before;
      after = s.after;
    }
    x = padded(x, before, after);
    for (size_t i = 0; i < n; ++i) {
      s.before[i] -= before[i];
      s.after[i] -= after[i];
    }
  }
  return channels_first(
      avg_pool(channels_last(x), s.kernel, s.strides, "EXPLICIT", s.paddings(), s.dilations));
}

Tensor powered(const Tensor& x, double p) {
  return p == 1 ? abs(x) : p == 2 ? square(x) : pow(abs(x), number(p, x));
}
Tensor rooted(const Tensor& x, double p) {
  return p == 1 ? x : p == 2 ? sqrt(x) : pow(x, number(1 / p, x));
}

double order_of(const Call& c) {
  return c.version < 2 ? c.real("p", 2) : static_cast<double>(c.integer("p", 2));
}

Tensor lp_pool(const Call& c) {
  const Tensor& x = c.in(0);
  const Sliding s = sliding_of(c, x);
  const double p = order_of(c);
  double count = 1;
  for (const int64_t k : s.kernel) count *= static_cast<double>(k);
  const Tensor terms = channels_last(padded(powered(x, p), s.before, s.after));
  const Tensor sums =
      avg_pool(terms, s.kernel, s.strides, "VALID", {}, s.dilations) * number(count, x);
  return channels_first(rooted(sums, p));
}

Tensor global_average(const Call& c) { return mean(c.in(0), spatial_axes(c.in(0)), true); }
Tensor global_max(const Call& c) { return max(c.in(0), spatial_axes(c.in(0)), true); }
Tensor global_lp(const Call& c) {
  const double p = order_of(c);
  return rooted(sum(powered(c.in(0), p), spatial_axes(c.in(0)), true), p);
}

Tensor max_unpool(const Call& c) {
  const Tensor &x = c.in(0), &places = c.in(1);
  const Sliding s = sliding_of(c, x);
  const size_t n = s.spatial();
  Ints reached;  // spatial sizes that the positions count in
  for (size_t i = 0; i < n; ++i) {
    const int64_t in = known_dim(x, static_cast<int>(i) + 2);
    reached.push_back((in - 1) * s.strides[i] - s.before[i] - s.after[i] + s.kernel[i]);
  }
  const Tensor parts[] = {slice(shape_of(x), vector_of({0}), vector_of({2})), vector_of(reached)};
  const Tensor sizes = concat(parts, 0);
  const Tensor count = expand_dims(prod(sizes), 0);
  const Tensor at = expand_dims(reshaped(as(places, DType::int64), {-1}), 1);
  const Tensor out = reshape(scatter_nd(at, reshaped(x, {-1}), count), sizes);
  if (!c.has(2)) return out;
  const Ints wanted = c.ints(2);
  if (wanted.size() != n + 2) c.fail("output_shape must have ", n + 2, " sizes");
  Ints beyond;
  for (size_t i = 0; i < n; ++i) beyond.push_back(std::max<int64_t>(wanted[i + 2] - reached[i], 0));
  return padded(out, Ints(n, 0), beyond);
}

constexpr Entry kEntries[] = {
    {"MaxPool", max_pool_node},    {"AveragePool", average_pool},
    {"LpPool", lp_pool},           {"GlobalAveragePool", global_average},
    {"GlobalMaxPool", global_max}, {"GlobalLpPool", global_lp},
    {"MaxUnpool", max_unpool},
};

}  // namespace

std::span<const Entry> pool_entries() { return kEntries; }

}  // namespace tidemark::io::onnx
