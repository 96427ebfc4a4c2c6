// Random parts of pictures, and parts around a place.
#include <tidemark/boxes.h>
#include <tidemark/call.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/when_run.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::image {

namespace {

constexpr const char* kName = "sample_distorted_bounding_box";
constexpr int64_t kDraws = 4;  // an attempt's

struct Box {
  int64_t top = 0, left = 0, height = 0, width = 0;
};

/// To the nearest, halves to the even one.
int64_t nearest(double x) { return static_cast<int64_t>(std::nearbyint(x)); }

/// A part of a random shape, size and place; of no height where none fits.
Box drawn_box(const float* draws, int64_t height, int64_t width, const DistortedBoxOptions& o) {
  const auto [narrowest, widest] = o.aspect_ratio_range;
  const double ratio = narrowest + (widest - narrowest) * static_cast<double>(draws[0]);
  const double pixels = static_cast<double>(height * width);
  const double least = o.area_range.first * pixels, most = o.area_range.second * pixels;
  int64_t low = std::max<int64_t>(1, nearest(std::sqrt(least / ratio)));
  int64_t high = std::min(nearest(std::sqrt(most / ratio)), height);
  if (nearest(static_cast<double>(high) * ratio) > width) {
    const double fitting = (static_cast<double>(width) + 0.5 - 1e-7) / ratio;
    high = std::min(static_cast<int64_t>(fitting), height);
  }
  low = std::min(low, high);
  const auto place = [](float drawn, int64_t room) {
    return static_cast<int64_t>(static_cast<double>(drawn) * static_cast<double>(room));
  };
  const auto across = [&](int64_t tall) { return nearest(static_cast<double>(tall) * ratio); };
  const auto area = [&](int64_t tall) { return static_cast<double>(tall * across(tall)); };
  int64_t tall = low + place(draws[1], high - low + 1);
  if (area(tall) < least) ++tall;  // rounding made it too small
  if (area(tall) > most) --tall;
  const int64_t wide = across(tall);
  const bool fits = area(tall) >= least && area(tall) <= most && wide > 0 && wide <= width &&
                    tall > 0 && tall <= height;
  if (!fits) return {};
  return {place(draws[2], height - tall + 1), place(draws[3], width - wide + 1), tall, wide};
}

/// Whether the part holds enough of one of the boxes.
bool covers(const Box& part, std::span<const std::array<double, 4>> boxes, double least) {
  const auto end = [](int64_t begin, int64_t size) { return static_cast<double>(begin + size); };
  return std::ranges::any_of(boxes, [&](const std::array<double, 4>& box) {
    const double rows =
        std::min(box[2], end(part.top, part.height)) - std::max(box[0], end(part.top, 0));
    const double columns =
        std::min(box[3], end(part.left, part.width)) - std::max(box[1], end(part.left, 0));
    const double area = (box[2] - box[0]) * (box[3] - box[1]);
    return area >= 1 && std::max(rows, 0.0) * std::max(columns, 0.0) >= least * area;
  });
}

/// The boxes in pixels, to the nearest.
std::vector<std::array<double, 4>> in_pixels(const Tensor& boxes, int64_t height, int64_t width,
                                             bool whole_if_none) {
  if (boxes.rank() != 3 || boxes.dim(-1) != 4) {
    fail("[", kName, "] bounding_boxes must be [batch, boxes, 4]; given shape ", boxes.shape());
  }
  const double sizes[] = {static_cast<double>(height), static_cast<double>(width)};
  std::vector<std::array<double, 4>> out;
  for (int64_t at = 0; at < boxes.num_elements(); at += 4) {
    const float* box = boxes.data<float>() + at;
    const bool rises = box[0] < box[2] && box[1] < box[3];
    if (!rises || std::any_of(box, box + 4, [](float x) { return !(x >= 0 && x <= 1); })) {
      fail("[", kName, "] boxes are [y_min, x_min, y_max, x_max], rising and in [0, 1]");
    }
    auto& scaled = out.emplace_back();
    for (size_t i = 0; i < 4; ++i) scaled[i] = std::nearbyint(double(box[i]) * sizes[i % 2]);
  }
  if (out.empty() && !whole_if_none) {
    fail("[", kName, "] no bounding boxes; `use_image_if_no_bounding_boxes` takes the whole image");
  }
  if (out.empty()) out.push_back({0, 0, sizes[0], sizes[1]});
  return out;
}

std::vector<Tensor> sampled(const Tensor& image_size, const Tensor& boxes, const Tensor& draws,
                            const DistortedBoxOptions& options) {
  const std::vector<int64_t> size = image_size.to_ints();
  if (size.size() != 3 || size[0] <= 0 || size[1] <= 0) {
    fail("[", kName,
         "] image_size must be [height, width, channels] of an image that has pixels; "
         "given ",
         Shape(size));
  }
  const int64_t height = size[0], width = size[1];
  const auto all = in_pixels(boxes, height, width, options.use_image_if_no_bounding_boxes);
  Box found{0, 0, height, width};
  for (int64_t at = 0; at < draws.num_elements(); at += kDraws) {
    const Box part = drawn_box(draws.data<float>() + at, height, width, options);
    if (part.height == 0 || !covers(part, all, options.min_object_covered)) continue;
    found = part;
    break;
  }
  const auto part_of = [](int64_t pixel, int64_t of) {
    return static_cast<float>(pixel) / static_cast<float>(of);
  };
  const std::array<float, 4> box = {part_of(found.top, height), part_of(found.left, width),
                                    part_of(found.top + found.height, height),
                                    part_of(found.left + found.width, width)};
  return {cast(nn::vector_of({found.top, found.left, 0}), image_size.dtype()),
          cast(nn::vector_of({found.height, found.width, -1}), image_size.dtype()),
          Tensor::of(std::span<const float>(box), {1, 1, 4})};
}

void check_options(const DistortedBoxOptions& o) {
  const auto rises = [](const std::pair<double, double>& range) {
    return range.first > 0 && range.first <= range.second;
  };
  if (!rises(o.aspect_ratio_range)) {
    fail("[", kName, "] aspect_ratio_range must be two rising numbers above 0; given ",
         o.aspect_ratio_range.first, " and ", o.aspect_ratio_range.second);
  }
  if (!rises(o.area_range) || o.area_range.second > 1) {
    fail("[", kName, "] area_range must be two rising numbers above 0 and at most 1; given ",
         o.area_range.first, " and ", o.area_range.second);
  }
  nn::check_positive(kName, "max_attempts", o.max_attempts);
}

DistortedBox sample(const Tensor& image_size, const Tensor& boxes, const Tensor& draws,
                    const DistortedBoxOptions& options) {
  const std::vector<Tensor> made = nn::when_run(
      kName,
      [options](const std::vector<Tensor>& given) {
        return sampled(given[0], given[1], given[2], options);
      },
      {image_size, cast(boxes, DType::float32), draws},
      {{image_size.dtype(), {3}}, {image_size.dtype(), {3}}, {DType::float32, {1, 1, 4}}});
  return {made[0], made[1], made[2]};
}

/// The number of the pixel at each place of each window; -1: outside.
Tensor glimpse_places(const Tensor& offsets, const std::vector<int64_t>& sizes, const Ints& window,
                      const GlimpseOptions& options) {
  const int64_t batch = sizes[0], extent[] = {sizes[1], sizes[2]};
  if (offsets.shape() != Shape{batch, 2}) {
    fail("[extract_glimpse] offsets must be [", batch, ", 2]; given ", offsets.shape());
  }
  const Tensor out = Tensor::uninitialized(DType::int32, {batch, window[0], window[1]});
  auto* place = out.mutable_data<int32_t>();
  for (int64_t picture = 0; picture < batch; ++picture) {
    int64_t first[2];
    for (int i = 0; i < 2; ++i) {
      const auto length = static_cast<double>(extent[i]);
      double where = static_cast<double>(offsets.data<float>()[2 * picture + i]);
      if (options.normalized) where *= length;
      if (options.centered) {
        where = where / 2 + length / 2 - static_cast<double>(window[size_t(i)]) / 2;
      }
      first[i] = static_cast<int64_t>(std::clamp(where, -1e9, 1e9));
    }
    for (int64_t i = first[0]; i < first[0] + window[0]; ++i) {
      for (int64_t j = first[1]; j < first[1] + window[1]; ++j) {
        const bool is_inside = i >= 0 && i < extent[0] && j >= 0 && j < extent[1];
        const int64_t number = (picture * extent[0] + i) * extent[1] + j;
        *place++ = is_inside ? static_cast<int32_t>(number) : -1;
      }
    }
  }
  return out;
}

}  // namespace

DistortedBox sample_distorted_bounding_box(const Tensor& image_size, const Tensor& bounding_boxes,
                                           const DistortedBoxOptions& options) {
  TIDEMARK_HERE;
  check_options(options);
  const Tensor draws =
      random::uniform({options.max_attempts * kDraws}, 0, 1, DType::float32, options.seed);
  return sample(image_size, bounding_boxes, draws, options);
}

DistortedBox stateless_sample_distorted_bounding_box(const Tensor& image_size,
                                                     const Tensor& bounding_boxes,
                                                     random::Seed seed,
                                                     const DistortedBoxOptions& options) {
  TIDEMARK_HERE;
  check_options(options);
  const Tensor draws = random::stateless_uniform({options.max_attempts * kDraws}, seed);
  return sample(image_size, bounding_boxes, draws, options);
}

Tensor extract_glimpse(const Tensor& input, const Ints& size, const Tensor& offsets,
                       const GlimpseOptions& options) {
  TIDEMARK_HERE;
  if (options.noise != "uniform" && options.noise != "gaussian" && options.noise != "zero") {
    fail("[extract_glimpse] noise must be 'uniform', 'gaussian' or 'zero'. Received: '",
         options.noise, "'");
  }
  if (options.centered && !options.normalized) {
    fail("[extract_glimpse] centered must be true only when normalized is true");
  }
  if (size.size() != 2 || size[0] <= 0 || size[1] <= 0) {
    fail("[extract_glimpse] size is a height and a width above 0. Received: ", Shape(size));
  }
  nn::check_rank("extract_glimpse", input, 4);
  const Tensor pictures = cast(input, DType::float32);
  const Tensor at = nn::when_run(
      "extract_glimpse",
      [=](const std::vector<Tensor>& given) {
        return std::vector{glimpse_places(given[0], given[1].to_ints(), size, options)};
      },
      {cast(offsets, DType::float32), nn::sizes_of(pictures)},
      {{DType::int32, {input.dim(0), size[0], size[1]}}})[0];
  const Tensor zero(int32_t{0});
  const Tensor columns[] = {Tensor(int32_t{-1}), nn::size_at(pictures, 3)};
  const Tensor flat = reshape(pictures, stack(columns));
  const Tensor pixels = gather(flat, maximum(at, zero), {.axis = 0});
  // The range, or the mean and the deviation, of standard ones.
  const Tensor rest = options.noise == "zero"      ? zeros_like(pixels)
                      : options.noise == "uniform" ? random_uniform(shape(pixels))
                                                   : random_normal(shape(pixels));
  return select(greater_equal(expand_dims(at, -1), zero), pixels, rest);
}

}  // namespace tidemark::image
