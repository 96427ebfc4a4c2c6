// Convolutions, pooling and what else is done to pictures. Ours have their channels last.
#include <tidemark/call.h>
#include <tidemark/create.h>

#include "tidemark/io/tensorflow/node_call.h"

namespace tidemark::io::tensorflow {

namespace {

bool is_channels_first(const NodeCall& c) {
  return c.text("data_format", "NHWC").starts_with("NC");
}

Tensor transposed(const Tensor& t, const Ints& order) {
  return call("transpose", {t}, {{"perm", order}});
}
Ints to_last(int spatial) {
  Ints order{0};
  for (int i = 0; i < spatial; ++i) order.push_back(i + 2);
  order.push_back(1);
  return order;
}
Ints to_first(int spatial) {
  Ints order{0, spatial + 1};
  for (int i = 0; i < spatial; ++i) order.push_back(i + 1);
  return order;
}

/// Numbers along the spatial dimensions, of one each dimension.
Ints spatial_of(const NodeCall& c, std::string_view name, int spatial, bool first) {
  const Ints all = c.numbers(name);
  if (all.empty()) return {};
  if (all.size() != static_cast<size_t>(spatial) + 2) {
    c.fail("'", name, "' has ", all.size(), " numbers; it is to have ", spatial + 2);
  }
  const auto from = all.begin() + (first ? 2 : 1);
  return {from, from + spatial};
}

struct Window {
  Ints strides, dilations, paddings;
  std::string padding;
  bool first = false;
};

Window window_of(const NodeCall& c, int spatial) {
  Window out;
  out.first = is_channels_first(c);
  out.strides = spatial_of(c, "strides", spatial, out.first);
  out.dilations = spatial_of(c, "dilations", spatial, out.first);
  out.padding = c.text("padding", "VALID");
  if (out.padding != "EXPLICIT") return out;
  const Ints all = c.numbers("explicit_paddings");
  if (all.size() != 2 * (static_cast<size_t>(spatial) + 2)) c.fail("its paddings are not said");
  const auto from = all.begin() + (out.first ? 4 : 2);
  out.paddings = {from, from + 2 * spatial};
  return out;
}

void convolve(NodeCall& c, Tensor filters, int spatial) {
  const Window window = window_of(c, spatial);
  Tensor x = c.in(0);
  if (window.first) x = transposed(x, to_last(spatial));
  Tensor y = call("convolution", {x, filters},
                  {{"strides", window.strides},
                   {"padding", window.padding},
                   {"explicit_paddings", window.paddings},
                   {"dilations", window.dilations}});
  c.give(window.first ? transposed(y, to_first(spatial)) : y);
}
void read_conv2d(NodeCall& c) { convolve(c, c.in(1), 2); }
void read_conv3d(NodeCall& c) { convolve(c, c.in(1), 3); }

/// [h, w, channels, multiplier] as [h, w, 1, channels * multiplier].
Tensor grouped(const NodeCall& c, const Tensor& filters) {
  const Shape& shape = filters.shape();
  if (!shape.is_fully_known() || shape.rank() != 4) c.fail_unsupported("the filter's shape");
  const int64_t sizes[] = {shape[0], shape[1], 1, shape[2] * shape[3]};
  return call("reshape", {filters, Tensor::of(std::span<const int64_t>(sizes), Shape{4})});
}
void read_depthwise(NodeCall& c) { convolve(c, grouped(c, c.in(1)), 2); }

void convolve_transposed(NodeCall& c, int spatial) {
  const Window window = window_of(c, spatial);
  Tensor sizes = c.in(0), dy = c.in(2);
  if (window.first) {
    dy = transposed(dy, to_last(spatial));
    const Ints order = to_last(spatial);
    const Tensor places = Tensor::of(std::span<const int64_t>(order), Shape{spatial + 2});
    sizes = call("gather", {sizes, places}, {{"axis", 0}});
  }
  const Tensor y = call("convolution_input_grad", {sizes, c.in(1), dy},
                        {{"strides", window.strides},
                         {"padding", window.padding},
                         {"explicit_paddings", window.paddings},
                         {"dilations", window.dilations}});
  c.give(window.first ? transposed(y, to_first(spatial)) : y);
}
void read_conv2d_transposed(NodeCall& c) { convolve_transposed(c, 2); }
void read_conv3d_transposed(NodeCall& c) { convolve_transposed(c, 3); }

void pool(NodeCall& c, std::string_view op, int spatial) {
  const Window window = window_of(c, spatial);
  const Ints size = spatial_of(c, "ksize", spatial, window.first);
  Tensor x = c.in(0);
  if (window.first) x = transposed(x, to_last(spatial));
  const Tensor inputs[] = {x};
  const Tensor y = call_all(op, inputs,
                            {{"ksize", size},
                             {"strides", window.strides},
                             {"padding", window.padding},
                             {"explicit_paddings", window.paddings}})[0];
  c.give(window.first ? transposed(y, to_first(spatial)) : y);
}
void read_max_pool(NodeCall& c) { pool(c, "max_pool", 2); }
void read_avg_pool(NodeCall& c) { pool(c, "avg_pool", 2); }
void read_max_pool_3d(NodeCall& c) { pool(c, "max_pool", 3); }
void read_avg_pool_3d(NodeCall& c) { pool(c, "avg_pool", 3); }

void read_batch_norm(NodeCall& c) {
  Tensor x = c.in(0);
  const bool first = is_channels_first(c);
  if (first) x = transposed(x, to_last(2));
  const Tensor scale = c.in(1), offset = c.in(2);
  const double epsilon = c.real("epsilon", 1e-4);
  Tensor mean, variance, y;
  if (c.flag("is_training", true)) {
    const Tensor inputs[] = {x, scale, offset};
    std::vector<Tensor> made = call_all("batch_norm", inputs, {{"epsilon", epsilon}});
    y = made[0], mean = made[1], variance = made[2];
  } else {
    mean = c.in(3), variance = c.in(4);
    const Tensor least = call("cast", {Tensor(epsilon)}, {{"dtype", variance.dtype()}});
    const Tensor factor = call("rsqrt", {variance + least}) * scale;
    const Tensor wide = call("cast", {x}, {{"dtype", factor.dtype()}});
    y = call("cast", {(wide - mean) * factor + offset}, {{"dtype", x.dtype()}});
  }
  c.give(first ? transposed(y, to_first(2)) : y);
  c.give_all({mean, variance, mean, variance, zeros({0}, scale.dtype())});
}

Tensor reshaped(const Tensor& t, std::initializer_list<int64_t> sizes) {
  const Shape shape{static_cast<int64_t>(sizes.size())};
  return call("reshape", {t, Tensor::of(std::span(sizes.begin(), sizes.size()), shape)});
}

/// Squares of pixels to channels, or back.
void rearrange(NodeCall& c, bool to_depth) {
  const bool first = is_channels_first(c);
  const Tensor x = first ? transposed(c.in(0), to_last(2)) : c.in(0);
  const Shape& shape = x.shape();
  const int64_t block = c.number("block_size", 0);
  const bool is_known =
      shape.has_rank() && shape.rank() == 4 && shape[1] >= 0 && shape[2] >= 0 && shape[3] >= 0;
  if (!is_known) c.fail_unsupported("the size of the pictures is not known");
  if (block < 1 || block > 1 << 15) c.fail("block_size is ", block);
  const int64_t b = block, h = shape[1], w = shape[2], d = shape[3];
  if (to_depth ? h % b != 0 || w % b != 0 : d % (b * b) != 0) {
    c.fail("the shape ", shape, " is no multiple of the block's size ", b);
  }
  Tensor y;
  if (to_depth) {
    y = transposed(reshaped(x, {-1, h / b, b, w / b, b, d}), {0, 1, 3, 2, 4, 5});
    y = reshaped(y, {-1, h / b, w / b, b * b * d});
  } else {
    y = transposed(reshaped(x, {-1, h, w, b, b, d / (b * b)}), {0, 1, 3, 2, 4, 5});
    y = reshaped(y, {-1, h * b, w * b, d / (b * b)});
  }
  c.give(first ? transposed(y, to_first(2)) : y);
}
void read_space_to_depth(NodeCall& c) { rearrange(c, true); }
void read_depth_to_space(NodeCall& c) { rearrange(c, false); }

void resize(NodeCall& c, const char* method) {
  if (!c.flag("half_pixel_centers") || c.flag("align_corners")) {
    c.fail_unsupported("only half_pixel_centers without align_corners is read");
  }
  const Tensor x = c.in(0);
  const Tensor wide = call("cast", {x}, {{"dtype", DType::float32}});
  const Tensor y = call("resize_images", {wide, c.in(1)}, {{"method", method}});
  const bool keeps_dtype = std::string_view(method) == "nearest";
  c.give(keeps_dtype ? call("cast", {y}, {{"dtype", x.dtype()}}) : y);
}
void read_bilinear(NodeCall& c) { resize(c, "bilinear"); }
void read_bicubic(NodeCall& c) { resize(c, "bicubic"); }
void read_nearest(NodeCall& c) { resize(c, "nearest"); }

constexpr NamedReader kReaders[] = {
    {"Conv2D", read_conv2d},
    {"Conv3D", read_conv3d},
    {"DepthwiseConv2dNative", read_depthwise},
    {"Conv2DBackpropInput", read_conv2d_transposed},
    {"Conv3DBackpropInputV2", read_conv3d_transposed},
    {"MaxPool", read_max_pool},
    {"MaxPool3D", read_max_pool_3d},
    {"AvgPool", read_avg_pool},
    {"AvgPool3D", read_avg_pool_3d},
    {"FusedBatchNorm", read_batch_norm},
    {"FusedBatchNormV2", read_batch_norm},
    {"FusedBatchNormV3", read_batch_norm},
    {"SpaceToDepth", read_space_to_depth},
    {"DepthToSpace", read_depth_to_space},
    {"ResizeBilinear", read_bilinear},
    {"ResizeBicubic", read_bicubic},
    {"ResizeNearestNeighbor", read_nearest},
};

}  // namespace

std::span<const NamedReader> image_readers() { return kReaders; }

}  // namespace tidemark::io::tensorflow
