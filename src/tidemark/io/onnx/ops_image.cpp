// Pictures: sampling, regions, boxes, columns, files.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tidemark/io/onnx/sampling.h"
#include "tidemark/io/onnx/windows.h"

namespace tidemark::io::onnx {

namespace {

const auto kScalar = std::span<const int64_t>();

Tensor grid_sample(const Call& c) {
  const Tensor images = channels_last(c.in(0));
  const Tensor& grid = c.in(1);
  const int spatial = rank_of(images) - 2;
  const std::string mode = c.text("mode", "linear"), outside = c.text("padding_mode", "zeros");
  Sampling how;
  how.align_corners = c.integer("align_corners", 0) != 0;
  how.interpolation = mode == "nearest"                      ? Interpolation::nearest
                      : mode == "cubic" || mode == "bicubic" ? Interpolation::cubic
                                                             : Interpolation::linear;
  how.outside = outside == "border"       ? Outside::border
                : outside == "reflection" ? Outside::reflection
                                          : Outside::zeros;
  std::vector<Tensor> places;
  for (int d = 0; d < spatial; ++d) {
    // The last coordinate is that of the first spatial dimension.
    const Tensor at = picked(grid, -1, spatial - 1 - d);
    const Tensor size = as(dim_of(images, d + 1), at.dtype());
    const Tensor one = number(1, at), half = number(0.5, at);
    places.push_back(how.align_corners ? (at + one) * half * (size - one)
                                       : ((at + one) * size - one) * half);
  }
  return channels_first(sampled(images, places, how));
}

/// Centers of pixels between -1 and 1.
Tensor line_of(int64_t size, bool align_corners) {
  std::vector<float> out;
  const auto n = static_cast<double>(size);
  for (int64_t i = 0; i < size; ++i) {
    const auto x = static_cast<double>(i);
    out.push_back(static_cast<float>(align_corners ? (size == 1 ? -1 : -1 + 2 * x / (n - 1))
                                                   : (2 * x + 1) / n - 1));
  }
  return Tensor::of<float>(out, Shape{size});
}

Tensor affine_grid(const Call& c) {
  const Tensor& theta = c.in(0);
  const Ints size = c.ints(1);
  const bool align = c.integer("align_corners", 0) != 0;
  const auto spatial = static_cast<int>(size.size()) - 2;
  if (spatial < 2 || spatial > 3) c.fail("needs two or three spatial sizes");
  const Ints dims(size.begin() + 2, size.end());
  for (const int64_t dim : dims) c.check_listed(static_cast<double>(dim));
  std::vector<Tensor> columns;
  for (int d = spatial - 1; d >= 0; --d) {
    const Tensor line = per_channel(line_of(dims[static_cast<size_t>(d)], align), spatial, d);
    columns.push_back(reshaped(broadcast_to(line, vector_of(dims)), {-1}));
  }
  columns.push_back(ones_like(columns[0]));
  const Tensor points = as(stack(columns, 0), theta.dtype());  // [spatial + 1, pixels]
  const Tensor moved = transposed(matmul(theta, points), {0, 2, 1});
  Ints shape{-1};
  shape.insert(shape.end(), dims.begin(), dims.end());
  shape.push_back(spatial);
  return reshaped(moved, shape);
}

/// Where samples of one region's windows lie along one dimension: [regions, windows * samples].
struct Lines {
  Tensor low, high, part, is_inside;
};

Lines lines_of(const Tensor& start, const Tensor& length, int64_t windows, int64_t samples,
               const Tensor& size) {
  std::vector<float> steps;
  for (int64_t i = 0; i < windows * samples; ++i) {
    steps.push_back((static_cast<float>(i) + 0.5f) / static_cast<float>(windows * samples));
  }
  const Tensor at = expand_dims(start, 1) +
                    expand_dims(length, 1) *
                        as(Tensor::of<float>(steps, Shape{windows * samples}), start.dtype());
  const Tensor zero = number(0, at), last = as(size, at.dtype()) - number(1, at);
  const Tensor is_inside =
      logical_and(greater_equal(at, number(-1, at)), less_equal(at, last + number(1, at)));
  const Tensor inside = minimum(maximum(at, zero), last);
  const Tensor low = floor(inside);
  return {as(low, DType::int64), as(minimum(low + number(1, at), last), DType::int64), inside - low,
          as(is_inside, at.dtype())};
}

Tensor roi_align(const Call& c) {
  const Tensor &x = c.in(0), &rois = c.in(1), &batch = c.in(2);
  const int64_t h = c.integer("output_height", 1), w = c.integer("output_width", 1);
  const int64_t samples = c.integer("sampling_ratio", 0);
  if (samples <= 0) {
    fail<UnimplementedError>(
        "RoiAlign with a sampling_ratio of 0 is not read: say how many samples");
  }
  for (const int64_t size : {h, w}) {
    c.check_listed(static_cast<double>(size) * static_cast<double>(samples));
  }
  const Tensor scale = number(c.real("spatial_scale", 1), rois);
  const std::string mode =
      c.text("coordinate_transformation_mode", c.version < 16 ? "output_half_pixel" : "half_pixel");
  const bool is_half = mode == "half_pixel";
  const auto corner = [&](int64_t i) {
    return picked(rois, 1, i) * scale - number(is_half ? 0.5 : 0, rois);
  };
  const auto length = [&](const Tensor& from, const Tensor& to) {
    return is_half ? to - from : maximum(to - from, number(1, rois));
  };
  const Tensor x1 = corner(0), y1 = corner(1), x2 = corner(2), y2 = corner(3);
  const Lines rows = lines_of(y1, length(y1, y2), h, samples, dim_of(x, 2));
  const Lines columns = lines_of(x1, length(x1, x2), w, samples, dim_of(x, 3));
  const Tensor images = gather(channels_last(x), as(batch, DType::int64), std::nullopt, 0);
  const auto corner_of = [&](const Tensor& y, const Tensor& at_x) {
    const Tensor ys = expand_dims(y, 2), xs = expand_dims(at_x, 1);
    const Tensor both[] = {ys + zeros_like(xs), xs + zeros_like(ys)};
    return gather_nd(images, stack(both, -1), 1);  // [regions, rows, columns, channels]
  };
  const auto weight = [&](const Tensor& y, const Tensor& at_x) {
    return expand_dims(
        expand_dims(y * rows.is_inside, 2) * expand_dims(at_x * columns.is_inside, 1), 3);
  };
  const Tensor one = number(1, rois);
  const Tensor parts[] = {
      corner_of(rows.low, columns.low) * weight(one - rows.part, one - columns.part),
      corner_of(rows.low, columns.high) * weight(one - rows.part, columns.part),
      corner_of(rows.high, columns.low) * weight(rows.part, one - columns.part),
      corner_of(rows.high, columns.high) * weight(rows.part, columns.part)};
  const bool is_max = c.text("mode", "avg") == "max";
  Tensor all = parts[0];
  for (int i = 1; i < 4; ++i) all = is_max ? maximum(all, parts[i]) : all + parts[i];
  const int64_t channels = known_dim(x, 1);
  const Tensor windows = reshaped(all, {-1, h, samples, w, samples, channels});
  const Ints axes{2, 4};
  return channels_first(is_max ? max(windows, axes) : mean(windows, axes));
}

Tensor non_max_suppression_node(const Call& c) {
  Tensor boxes = c.in(0);
  const Tensor& scores = c.in(1);
  const int64_t batches = known_dim(scores, 0), classes = known_dim(scores, 1);
  const Tensor none = reshaped(vector_of(kScalar), {0, 3});
  if (!c.has(2)) return none;
  const Tensor most = as(reshaped(c.in(2), kScalar), DType::int32);
  const double overlap = c.has(3) ? c.known_real(3) : 0;
  std::optional<double> least;
  if (c.has(4)) least = c.known_real(4);
  if (c.integer("center_point_box", 0)) {
    const Tensor half = number(0.5, boxes);
    const auto at = [&](int64_t i) { return picked(boxes, 2, i); };
    const Tensor corners[] = {at(1) - at(3) * half, at(0) - at(2) * half, at(1) + at(3) * half,
                              at(0) + at(2) * half};
    boxes = stack(corners, 2);
  }
  std::vector<Tensor> rows;
  for (int64_t b = 0; b < batches; ++b) {
    for (int64_t k = 0; k < classes; ++k) {
      const Tensor found =
          as(non_max_suppression(picked(boxes, 0, b), picked(picked(scores, 0, b), 0, k), most,
                                 overlap, least)[0],
             DType::int64);
      const Tensor columns[] = {fill(shape_of(found), Tensor(b)), fill(shape_of(found), Tensor(k)),
                                found};
      rows.push_back(stack(columns, 1));
    }
  }
  return rows.empty() ? none : concat(rows, 0);
}

/// As many of each, and none that products of them would not hold.
void check_blocks(const Call& c, const Ints& image, const Ints& block, const Ints& dilations,
                  const Ints& strides, const Ints& pads) {
  const size_t n = image.size();
  if (block.size() != n || dilations.size() != n || strides.size() != n || pads.size() != 2 * n) {
    c.fail("blocks, dilations, strides and pads must fit the ", n, " dimensions of the picture");
  }
  double pixels = 1;
  for (size_t i = 0; i < n; ++i) {
    for (const int64_t size : {block[i], dilations[i], strides[i]}) {
      if (size < 1) c.fail("blocks, dilations and strides must be 1 or more");
      c.check_listed(static_cast<double>(size));
    }
    for (const int64_t size : {image[i], pads[i], pads[i + n]}) {
      c.check_listed(static_cast<double>(size));
    }
    pixels *= static_cast<double>(image[i] + pads[i] + pads[i + n]);
    c.check_listed(pixels);
  }
}

Tensor col2im(const Call& c) {
  const Tensor& x = c.in(0);
  const Ints image = c.ints(1), block = c.ints(2);
  const size_t n = image.size();
  const Ints ones(n, 1);
  const Ints dilations = c.integers("dilations", ones), strides = c.integers("strides", ones);
  const Ints pads = c.integers("pads", Ints(2 * n, 0));
  check_blocks(c, image, block, dilations, strides, pads);
  Ints padded_sizes, windows;
  int64_t pixels = 1, blocks = 1, places = 1;
  for (size_t i = 0; i < n; ++i) {
    padded_sizes.push_back(image[i] + pads[i] + pads[i + n]);
    windows.push_back((padded_sizes[i] - (block[i] - 1) * dilations[i] - 1) / strides[i] + 1);
    pixels *= padded_sizes[i];
    if (windows[i] < 1) c.fail("a block does not fit into the picture");
    blocks *= block[i];
    places *= windows[i];
    c.check_listed(static_cast<double>(blocks) * static_cast<double>(places));
  }
  Ints targets;
  for (int64_t k = 0; k < blocks; ++k) {
    for (int64_t l = 0; l < places; ++l) {
      int64_t in_block = k, in_windows = l, target = 0, step = 1;
      for (size_t i = n; i-- > 0;) {
        const int64_t at =
            in_block % block[i] * dilations[i] + in_windows % windows[i] * strides[i];
        in_block /= block[i];
        in_windows /= windows[i];
        target += at * step;
        step *= padded_sizes[i];
      }
      targets.push_back(target);
    }
  }
  const int64_t batch = known_dim(x, 0), channels = known_dim(x, 1) / blocks;
  const Tensor rows = transposed(reshaped(x, {batch * channels, blocks * places}), {1, 0});
  const Tensor sums = scatter_nd(reshaped(vector_of(targets), {-1, 1}), rows,
                                 vector_of({pixels, batch * channels}));
  Ints shape{batch, channels};
  shape.insert(shape.end(), padded_sizes.begin(), padded_sizes.end());
  Tensor out = reshaped(transposed(sums, {1, 0}), shape);
  for (size_t i = 0; i < n; ++i) {
    if (pads[i] || pads[i + n])
      out = sliced(out, static_cast<int>(i) + 2, pads[i], pads[i] + image[i]);
  }
  return out;
}

/// Places of one coordinate of all samples: [batch * groups, kernel, out height, out width].
Tensor deformed_line(const Tensor& offsets, const Sliding& s, size_t d, int64_t out_size) {
  Ints kernel_steps;
  for (int64_t i = 0; i < s.kernel[0]; ++i) {
    for (int64_t j = 0; j < s.kernel[1]; ++j) {
      kernel_steps.push_back((d == 0 ? i : j) * s.dilations[d]);
    }
  }
  Ints steps;
  for (int64_t i = 0; i < out_size; ++i) steps.push_back(i * s.strides[d] - s.before[d]);
  const Tensor kernel = per_channel(as(vector_of(kernel_steps), offsets.dtype()), 4, 1);
  return offsets + kernel + per_channel(as(vector_of(steps), offsets.dtype()), 4, d == 0 ? 2 : 3);
}

Tensor deform_conv(const Call& c) {
  const Tensor &x = c.in(0), &w = c.in(1), &offset = c.in(2);
  if (rank_of(x) != 4) c.fail("only pictures of two dimensions are read");
  const Sliding s = sliding_of(c, x, {known_dim(w, 2), known_dim(w, 3)});
  const int64_t groups = c.integer("offset_group", 1), group = c.integer("group", 1);
  const int64_t channels = known_dim(x, 1), kernel = s.kernel[0] * s.kernel[1];
  c.check_listed(static_cast<double>(kernel));
  if (groups < 1 || group < 1 || channels % groups != 0 || channels % group != 0) {
    c.fail("channels must be a multiple of group and offset_group");
  }
  const int64_t h = known_dim(offset, 2), width = known_dim(offset, 3);
  const int64_t image_h = known_dim(x, 2), image_w = known_dim(x, 3);
  const Tensor images =
      transposed(reshaped(x, {-1, channels / groups, image_h, image_w}), {0, 2, 3, 1});
  const Tensor moves = reshaped(offset, {-1, kernel, 2, h, width});
  const Tensor places[] = {deformed_line(picked(moves, 2, 0), s, 0, h),
                           deformed_line(picked(moves, 2, 1), s, 1, width)};
  Tensor taken = sampled(images, places, {});  // [batch * groups, kernel, h, w, channels / groups]
  if (c.has(4)) taken = taken * expand_dims(reshaped(c.in(4), {-1, kernel, h, width}), -1);
  taken = reshaped(taken, {-1, groups, kernel, h * width, channels / groups});
  // [batch, conv groups, pixels, (channels of a group, kernel)]
  const Tensor columns = reshaped(transposed(taken, {0, 1, 4, 2, 3}),
                                  {-1, group, channels / group * kernel, h * width});
  const int64_t out = known_dim(w, 0);
  const Tensor filters = reshaped(w, {1, group, out / group, channels / group * kernel});
  const Tensor y = reshaped(matmul(filters, columns), {-1, out, h, width});
  return c.has(3) ? y + per_channel(c.in(3), 4) : y;
}

Tensor image_decoder(const Call& c) {
  const Tensor& bytes = c.in(0);
  if (bytes.is_symbolic()) fail_unknown(c, "the picture's file");
  const std::string_view file(static_cast<const char*>(bytes.raw_data()), bytes.nbytes());
  const std::string format = c.text("pixel_format", "RGB");
  const Tensor text = Tensor::of_strings(std::span(&file, 1), Shape{});
  const Tensor out = decode_image_file(text, format == "Grayscale" ? 1 : 3, DType::uint8, false, 1,
                                       true, false, 1, "INTEGER_ACCURATE");
  return format == "BGR" ? reverse(out, Ints{2}) : out;
}

constexpr Entry kEntries[] = {
    {"GridSample", grid_sample},
    {"AffineGrid", affine_grid},
    {"RoiAlign", roi_align},
    {"NonMaxSuppression", non_max_suppression_node},
    {"Col2Im", col2im},
    {"DeformConv", deform_conv},
    {"ImageDecoder", image_decoder},
};

}  // namespace

std::span<const Entry> image_entries() { return kEntries; }

}  // namespace tidemark::io::onnx
