// Operators over [batch, spatial…, channels]: convolutions, poolings and pictures of other sizes.
#include <algorithm>
#include <cmath>

#include "tidemark/io/tflite/windows.h"

namespace tidemark::io::tflite {

using namespace onnx;

constexpr int64_t kMostStep = int64_t{1} << 30;

std::string padding_of(const Call& c) {
  const int64_t padding = c.integer("padding", 0);
  if (padding != 0 && padding != 1) c.fail("has the unknown padding ", padding);
  return padding == 0 ? "SAME" : "VALID";
}

Ints steps_of(const Call& c, std::initializer_list<std::string_view> names) {
  Ints out;
  for (const std::string_view name : names) {
    out.push_back(c.integer(name, 1));
    if (out.back() < 1 || out.back() > kMostStep) c.fail("has the ", name, " ", out.back());
  }
  return out;
}

void check_rank(const Call& c, const Tensor& t, int rank) {
  if (rank_of(t) != rank) c.fail("needs ", rank, " dimensions; it has ", rank_of(t));
}

namespace {

Tensor with_bias(const Call& c, const Tensor& y, size_t bias) {
  return activated(c, c.has(bias) ? y + c.in(bias) : y);
}

/// Filters are [out, height, width, in] there.
Tensor conv(const Call& c) {
  check_rank(c, c.in(1), 4);
  const Tensor filters = transposed(c.in(1), {1, 2, 3, 0});
  const Tensor y = convolution(c.in(0), filters, steps_of(c, {"stride_h", "stride_w"}),
                               padding_of(c), {}, steps_of(c, {"dilation_h", "dilation_w"}));
  return with_bias(c, y, 2);
}

/// Filters are [1, height, width, channels * multiplier].
Tensor depthwise(const Call& c) {
  const Tensor& w = c.in(1);
  check_rank(c, w, 4);
  const Tensor filters = reshaped(w, {known_dim(w, 1), known_dim(w, 2), 1, known_dim(w, 3)});
  const Tensor y = convolution(c.in(0), filters, steps_of(c, {"stride_h", "stride_w"}),
                               padding_of(c), {}, steps_of(c, {"dilation_h", "dilation_w"}));
  return with_bias(c, y, 2);
}

Tensor conv_3d(const Call& c) {
  const Tensor y =
      convolution(c.in(0), c.in(1), steps_of(c, {"stride_d", "stride_h", "stride_w"}),
                  padding_of(c), {}, steps_of(c, {"dilation_d", "dilation_h", "dilation_w"}));
  return with_bias(c, y, 2);
}

/// Inputs: the result's sizes, filters [out, height, width, in], the images, perhaps a bias.
Tensor transposed_conv(const Call& c) {
  check_rank(c, c.in(1), 4);
  const Tensor filters = transposed(c.in(1), {1, 2, 0, 3});
  const Tensor y =
      convolution_input_grad(c.in(0), filters, c.in(2), steps_of(c, {"stride_h", "stride_w"}),
                             padding_of(c), {}, Ints{1, 1});
  return with_bias(c, y, 3);
}

Tensor max_pooled(const Call& c) {
  return activated(c, max_pool(c.in(0), steps_of(c, {"filter_h", "filter_w"}),
                               steps_of(c, {"stride_h", "stride_w"}), padding_of(c)));
}
Tensor average_of(const Call& c, const Tensor& x) {
  return avg_pool(x, steps_of(c, {"filter_h", "filter_w"}), steps_of(c, {"stride_h", "stride_w"}),
                  padding_of(c));
}
Tensor average_pooled(const Call& c) { return activated(c, average_of(c, c.in(0))); }
Tensor l2_pooled(const Call& c) { return activated(c, sqrt(average_of(c, square(c.in(0))))); }

/// Where pixels of the new size lie between those of the old one.
struct Places {
  std::vector<int64_t> low, high;
  std::vector<float> part;  // of the higher one
};

struct Grid {
  bool align_corners = false, half_pixels = false;
};

double place_at(int64_t i, int64_t from, int64_t to, const Grid& grid) {
  const auto old = static_cast<double>(from), wanted = static_cast<double>(to);
  if (grid.align_corners && to > 1) return static_cast<double>(i) * (old - 1) / (wanted - 1);
  const double scale = old / wanted;
  return grid.half_pixels ? (static_cast<double>(i) + 0.5) * scale - 0.5
                          : static_cast<double>(i) * scale;
}

Places places_between(int64_t from, int64_t to, const Grid& grid) {
  Places out;
  for (int64_t i = 0; i < to; ++i) {
    const double at = place_at(i, from, to, grid);
    const auto low = static_cast<int64_t>(std::floor(at));
    out.low.push_back(std::clamp<int64_t>(low, 0, from - 1));
    out.high.push_back(std::clamp<int64_t>(low + 1, 0, from - 1));
    out.part.push_back(static_cast<float>(std::max(at, 0.0) - std::max<double>(low, 0)));
  }
  return out;
}

Tensor between(const Tensor& x, int axis, int64_t to, const Grid& grid) {
  const int64_t from = known_dim(x, axis);
  const Places places = places_between(from, to, grid);
  const Tensor low = gather(x, vector_of(places.low), std::nullopt, axis);
  const Tensor high = gather(x, vector_of(places.high), std::nullopt, axis);
  const Tensor part = per_channel(Tensor::of<float>(places.part, Shape{to}), 4, axis);
  return low + (high - low) * part;
}

Tensor nearest(const Tensor& x, int axis, int64_t to, const Grid& grid) {
  const int64_t from = known_dim(x, axis);
  Ints places;
  for (int64_t i = 0; i < to; ++i) {
    double at = place_at(i, from, to, {.align_corners = grid.align_corners});
    if (grid.half_pixels) at += 0.5 * static_cast<double>(from) / static_cast<double>(to);
    const auto whole = static_cast<int64_t>(grid.align_corners ? std::round(at) : std::floor(at));
    places.push_back(std::clamp<int64_t>(whole, 0, from - 1));
  }
  return gather(x, vector_of(places), std::nullopt, axis);
}

using Resize = Tensor (*)(const Tensor&, int, int64_t, const Grid&);
template <Resize Along>
Tensor resized(const Call& c) {
  const Tensor& x = c.in(0);
  check_rank(c, x, 4);
  const Ints sizes = c.ints(1);
  if (sizes.size() != 2 || sizes[0] < 1 || sizes[1] < 1) c.fail("needs two sizes");
  if (known_dim(x, 1) < 1 || known_dim(x, 2) < 1) c.fail("has nothing to resize");
  c.check_listed(static_cast<double>(sizes[0]) + static_cast<double>(sizes[1]));
  const Grid grid{c.integer("align_corners", 0) != 0, c.integer("half_pixel_centers", 0) != 0};
  return Along(Along(x, 1, sizes[0], grid), 2, sizes[1], grid);
}

/// Half pixels are what our own op does.
Tensor resize_bilinear(const Call& c) {
  const bool is_ours = c.integer("half_pixel_centers", 0) && !c.integer("align_corners", 0);
  if (is_ours && c.in(0).dtype() == DType::float32) {
    return resize_images(c.in(0), c.in(1), "bilinear");
  }
  return resized<between>(c);
}

constexpr Entry kEntries[] = {
    entry("CONV_2D", conv),
    entry("DEPTHWISE_CONV_2D", depthwise),
    entry("CONV_3D", conv_3d),
    entry("TRANSPOSE_CONV", transposed_conv),
    entry("MAX_POOL_2D", max_pooled),
    entry("AVERAGE_POOL_2D", average_pooled),
    entry("L2_POOL_2D", l2_pooled),
    entry("RESIZE_BILINEAR", resize_bilinear),
    entry("RESIZE_NEAREST_NEIGHBOR", resized<nearest>),
};

}  // namespace

std::span<const Entry> window_entries() { return kEntries; }

}  // namespace tidemark::io::tflite
