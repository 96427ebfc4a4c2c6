// Parts of pictures, turns and mirrors.
#include <tidemark/call.h>
#include <tidemark/image.h>
#include <tidemark/random.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/pictures.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::image {

namespace {

/// Height and width, which are known.
struct Size {
  int64_t height, width;
};
Size size_of_pictures(std::string_view name, const Tensor& images) {
  check_pictures(name, images);
  return {nn::known_size(name, images, -3), nn::known_size(name, images, -2)};
}

Tensor cut(const Tensor& images, int64_t top, int64_t left, int64_t rows, int64_t columns) {
  return nn::part(nn::part(images, -3, top, rows), -2, left, columns);
}

void check_target(std::string_view name, int64_t height, int64_t width) {
  if (height > 0 && width > 0) return;
  fail("[", name, "] the target's height and width are positive. Received: ", height, " and ",
       width);
}

Tensor mirrored(std::string_view name, const Tensor& image, int axis) {
  check_pictures(name, image);
  return reverse(image, Ints{axis});
}

/// Each picture by its own chance.
Tensor mirrored_sometimes(std::string_view name, const Tensor& image, int axis) {
  const Tensor other = mirrored(name, image, axis);
  if (image.rank() == 3) return select(less(random::uniform({}), 0.5f), other, image);
  const Tensor sizes = nn::sizes_then(image, 1, {1, 1, 1});
  return select(less(random_uniform(sizes), 0.5f), other, image);
}

}  // namespace

Tensor crop_to_bounding_box(const Tensor& image, int64_t offset_height, int64_t offset_width,
                            int64_t target_height, int64_t target_width) {
  TIDEMARK_HERE;
  constexpr const char* kName = "crop_to_bounding_box";
  check_target(kName, target_height, target_width);
  const auto [height, width] = size_of_pictures(kName, image);
  if (offset_height < 0 || offset_width < 0 || offset_height + target_height > height ||
      offset_width + target_width > width) {
    fail("[", kName, "] the part lies in the picture, of ", height, " x ", width,
         ". Received: offset ", offset_height, ", ", offset_width, " and target ", target_height,
         " x ", target_width);
  }
  return cut(image, offset_height, offset_width, target_height, target_width);
}

Tensor pad_to_bounding_box(const Tensor& image, int64_t offset_height, int64_t offset_width,
                           int64_t target_height, int64_t target_width) {
  TIDEMARK_HERE;
  constexpr const char* kName = "pad_to_bounding_box";
  const auto [height, width] = size_of_pictures(kName, image);
  const int64_t below = target_height - offset_height - height;
  const int64_t right = target_width - offset_width - width;
  if (offset_height < 0 || offset_width < 0 || below < 0 || right < 0) {
    fail("[", kName, "] the picture, of ", height, " x ", width,
         ", lies in the target. Received: offset ", offset_height, ", ", offset_width,
         " and target ", target_height, " x ", target_width);
  }
  return nn::padded(nn::padded(image, -3, offset_height, below), -2, offset_width, right);
}

Tensor central_crop(const Tensor& image, double central_fraction) {
  TIDEMARK_HERE;
  if (!(central_fraction > 0 && central_fraction <= 1)) {
    fail("[central_crop] the fraction is in (0, 1]. Received: ", central_fraction);
  }
  const auto [height, width] = size_of_pictures("central_crop", image);
  const auto edge = [&](int64_t size) {
    const auto whole = static_cast<double>(size);
    return static_cast<int64_t>((whole - whole * central_fraction) / 2);
  };
  const int64_t top = edge(height), left = edge(width);
  return cut(image, top, left, height - 2 * top, width - 2 * left);
}

Tensor resize_with_crop_or_pad(const Tensor& image, int64_t target_height, int64_t target_width) {
  TIDEMARK_HERE;
  constexpr const char* kName = "resize_with_crop_or_pad";
  check_target(kName, target_height, target_width);
  const auto [height, width] = size_of_pictures(kName, image);
  const int64_t rows = std::min(height, target_height), columns = std::min(width, target_width);
  const Tensor part = cut(image, (height - rows) / 2, (width - columns) / 2, rows, columns);
  return pad_to_bounding_box(part, (target_height - rows) / 2, (target_width - columns) / 2,
                             target_height, target_width);
}

Tensor resize_with_pad(const Tensor& image, int64_t target_height, int64_t target_width,
                       const ResizeOptions& options) {
  TIDEMARK_HERE;
  constexpr const char* kName = "resize_with_pad";
  check_target(kName, target_height, target_width);
  const auto [height, width] = size_of_pictures(kName, image);
  const double high = static_cast<double>(height), wide = static_cast<double>(width);
  const double wanted_high = static_cast<double>(target_height);
  const double wanted_wide = static_cast<double>(target_width);
  const double ratio = std::max(high / wanted_high, wide / wanted_wide);
  const auto whole = [](double value) { return static_cast<int64_t>(std::floor(value)); };
  const Tensor fitted = resize(image, {whole(high / ratio), whole(wide / ratio)}, options);
  const auto offset = [&](double wanted, double size) {
    return std::max<int64_t>(0, whole((wanted - size / ratio) / 2));
  };
  return pad_to_bounding_box(fitted, offset(wanted_high, high), offset(wanted_wide, wide),
                             target_height, target_width);
}

Tensor flip_left_right(const Tensor& image) {
  TIDEMARK_HERE;
  return mirrored("flip_left_right", image, -2);
}

Tensor flip_up_down(const Tensor& image) {
  TIDEMARK_HERE;
  return mirrored("flip_up_down", image, -3);
}

Tensor transpose(const Tensor& image) {
  TIDEMARK_HERE;
  check_pictures("transpose", image);
  return tidemark::transpose(image, image.rank() == 3 ? Ints{1, 0, 2} : Ints{0, 2, 1, 3});
}

Tensor rot90(const Tensor& image, int64_t k) {
  TIDEMARK_HERE;
  check_pictures("rot90", image);
  const int64_t turns = ((k % 4) + 4) % 4;
  const Tensor x = turns % 2 == 1 ? transpose(image) : image;
  switch (turns) {
    case 1:
      return reverse(x, Ints{-3});
    case 2:
      return reverse(x, Ints{-3, -2});
    case 3:
      return reverse(x, Ints{-2});
    default:
      return x;
  }
}

Tensor random_flip_left_right(const Tensor& image) {
  TIDEMARK_HERE;
  return mirrored_sometimes("random_flip_left_right", image, -2);
}

Tensor random_flip_up_down(const Tensor& image) {
  TIDEMARK_HERE;
  return mirrored_sometimes("random_flip_up_down", image, -3);
}

Tensor cropped(std::string_view name, const Tensor& value, const Ints& size, const Tensor& drawn) {
  if (static_cast<size_t>(value.rank()) != size.size()) {
    fail("[", name, "] has a size for each of the ", value.rank(),
         " dimensions. Received: ", size.size());
  }
  Ints places;
  for (int i = 0; i < value.rank(); ++i) {
    const int64_t room = nn::known_size(name, value, i) - size[static_cast<size_t>(i)];
    if (room < 0) {
      fail("[", name, "] the part is not larger than the whole. Received: ", Shape(size), " of ",
           value.shape());
    }
    places.push_back(room + 1);
  }
  return slice(value, floormod(drawn, nn::vector_of(places)), nn::vector_of(size));
}

Tensor random_crop(const Tensor& value, const Ints& size) {
  TIDEMARK_HERE;
  const Tensor drawn = random::uniform_int({value.rank()}, 0, std::numeric_limits<int32_t>::max());
  return cropped("random_crop", value, size, drawn);
}

}  // namespace tidemark::image
