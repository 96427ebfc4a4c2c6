// Windows and boxes cut out of pictures.
#include <tidemark/call.h>
#include <tidemark/image.h>

#include <algorithm>

#include "tidemark/nn/building.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::image {

namespace {

using nn::known_size;

/// Where the windows of one dimension are.
struct Windows {
  int64_t count, before, after;
  Tensor places;  // [windows, positions]
};
Windows windows_of(int64_t size, int64_t window, int64_t stride, int64_t rate, bool is_same) {
  const int64_t reach = (window - 1) * rate + 1;
  Windows out{std::max<int64_t>(0, size < reach ? 0 : (size - reach) / stride + 1), 0, 0, {}};
  if (is_same) {
    out.count = (size + stride - 1) / stride;
    const int64_t more = std::max<int64_t>(0, (out.count - 1) * stride + reach - size);
    out.before = more / 2;
    out.after = more - out.before;
  }
  const Tensor starts = nn::steps(out.count, DType::int32) * static_cast<int32_t>(stride);
  out.places =
      expand_dims(starts, 1) + nn::steps(window, DType::int32) * static_cast<int32_t>(rate);
  return out;
}

/// [boxes, count] coordinates in pixels; the middle of the box when there is one.
Tensor sample_places(const Tensor& low, const Tensor& high, int64_t count, int64_t size) {
  const auto last = static_cast<float>(size - 1);
  if (count == 1) return expand_dims((low + high) * (0.5f * last), 1);
  const Tensor step = expand_dims((high - low) * (last / static_cast<float>(count - 1)), 1);
  return expand_dims(low * last, 1) + step * nn::steps(count, DType::float32);
}

struct Sampled {
  Tensor pixels, is_inside;
};
Sampled sampled(const Tensor& images, const Tensor& places, int axis, bool is_nearest) {
  const auto last = static_cast<float>(known_size("crop_and_resize", images, axis) - 1);
  const Tensor is_inside = logical_and(greater_equal(places, 0.f), less_equal(places, last));
  const Tensor bounded = clip_by_value(places, 0.f, last);
  const auto taken = [&](const Tensor& at) {
    return gather(images, cast(at, DType::int32), {.axis = axis, .batch_dims = 1});
  };
  if (is_nearest) return {taken(floor(bounded + 0.5f)), is_inside};
  const Tensor low = floor(bounded);
  Tensor part = bounded - low;
  for (const int64_t place : axis == 2 ? Ints{1, 3} : Ints{2, 3}) part = expand_dims(part, place);
  const Tensor below = taken(low), above = taken(ceil(bounded));
  return {below + (above - below) * part, is_inside};
}

}  // namespace

Tensor extract_patches(const Tensor& images, const Ints& sizes, const PatchOptions& options) {
  TIDEMARK_HERE;
  constexpr const char* kName = "extract_patches";
  if (images.rank() != 4 || sizes.size() != 2 || options.strides.size() != 2 ||
      options.rates.size() != 2) {
    fail("[", kName,
         "] takes a batch of pictures, and two sizes, strides and rates. Received "
         "shape: ",
         images.shape());
  }
  if (options.padding != "SAME" && options.padding != "VALID") {
    fail("[", kName, "] `padding` is \"SAME\" or \"VALID\". Received: ", options.padding);
  }
  const bool is_same = options.padding == "SAME";
  const Windows rows = windows_of(known_size(kName, images, 1), sizes[0], options.strides[0],
                                  options.rates[0], is_same);
  const Windows columns = windows_of(known_size(kName, images, 2), sizes[1], options.strides[1],
                                     options.rates[1], is_same);
  const Tensor high = nn::padded(images, 1, rows.before, rows.after);
  const Tensor wide = nn::padded(high, 2, columns.before, columns.after);
  const Tensor taken = gather(gather(wide, rows.places, {.axis = 1}), columns.places, {.axis = 3});
  const int64_t depth = sizes[0] * sizes[1] * known_size(kName, images, 3);
  return reshape(tidemark::transpose(taken, Ints{0, 1, 3, 2, 4, 5}),
                 nn::sizes_then(images, 1, {rows.count, columns.count, depth}));
}

Tensor crop_and_resize(const Tensor& image, const Tensor& boxes, const Tensor& box_indices,
                       const Ints& crop_size, const CropOptions& options) {
  TIDEMARK_HERE;
  if (image.rank() != 4 || boxes.rank() != 2 || crop_size.size() != 2 || crop_size[0] < 1 ||
      crop_size[1] < 1) {
    fail(
        "[crop_and_resize] takes pictures [batch, height, width, channels], boxes [boxes, 4] and "
        "a size. Received: ",
        image.shape(), ", ", boxes.shape(), " and ", Shape(crop_size));
  }
  if (options.method != "bilinear" && options.method != "nearest") {
    fail("[crop_and_resize] `method` is \"bilinear\" or \"nearest\". Received: ", options.method);
  }
  const bool is_nearest = options.method == "nearest";
  const auto edge = [&](int64_t i) { return nn::at(cast(boxes, DType::float32), 1, i); };
  const Tensor y =
      sample_places(edge(0), edge(2), crop_size[0], known_size("crop_and_resize", image, 1));
  const Tensor x =
      sample_places(edge(1), edge(3), crop_size[1], known_size("crop_and_resize", image, 2));
  const Tensor picked = gather(cast(image, DType::float32), box_indices, {.axis = 0});
  const auto [rows, y_is_inside] = sampled(picked, y, 1, is_nearest);
  const auto [pixels, x_is_inside] = sampled(rows, x, 2, is_nearest);
  const Tensor is_inside = logical_and(expand_dims(y_is_inside, 2), expand_dims(x_is_inside, 1));
  return select(expand_dims(is_inside, 3), pixels,
                Tensor(static_cast<float>(options.extrapolation_value)));
}

}  // namespace tidemark::image
