// Colours of pictures: what they are stored in, their spaces, their changes.
#include <tidemark/call.h>
#include <tidemark/composed.h>
#include <tidemark/image.h>
#include <tidemark/random.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/pictures.h"
#include "tidemark/nn/number_ranges.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::image {

namespace {

using nn::number;
using nn::part;

void check_channels(std::string_view name, const Tensor& images, int64_t channels) {
  if (nn::known_size(name, images, -1) == channels) return;
  fail("[", name, "] pictures have ", channels, " channels. Received shape: ", images.shape());
}

/// Every pixel times a matrix of three rows.
Tensor mixed(std::string_view name, const Tensor& images, std::span<const double> matrix) {
  check_channels(name, images, 3);
  const auto columns = static_cast<int64_t>(matrix.size()) / 3;
  const Tensor pixels = reshape(images, nn::vector_of({-1, 3}));
  const Tensor product = matmul(pixels, cast(Tensor::of(matrix, {3, columns}), images.dtype()));
  return reshape(product, nn::sizes_then(images, images.rank() - 1, {columns}));
}

constexpr std::array kToGray = {0.2989, 0.587, 0.114};
constexpr std::array kRgbToYiq = {0.299,       0.59590059, 0.2115,      0.587,     -0.27455667,
                                  -0.52273617, 0.114,      -0.32134392, 0.31119955};
constexpr std::array kYiqToRgb = {1.0,         1.0,       1.0,         0.95598634, -0.27201283,
                                  -1.10674021, 0.6208248, -0.64720424, 1.70423049};
constexpr std::array kRgbToYuv = {0.299,       -0.14714119, 0.61497538, 0.587,      -0.28886916,
                                  -0.51496512, 0.114,       0.43601035, -0.10001026};
constexpr std::array kYuvToRgb = {1.0,        1.0,        1.0,         0.0, -0.394642334,
                                  2.03206185, 1.13988303, -0.58062185, 0.0};

/// The function of the picture in floating point, converted back.
template <class Work>
Tensor in_floats(const Tensor& image, const Work& work) {
  if (image.dtype() == DType::float32 || image.dtype() == DType::float64) return work(image);
  const Tensor done = work(convert_image_dtype(image, DType::float32));
  return convert_image_dtype(done, image.dtype(), true);
}

Tensor channel(const Tensor& images, int64_t i) { return nn::at(images, -1, i); }

Tensor joined(const Tensor& a, const Tensor& b, const Tensor& c) {
  const Tensor all[] = {a, b, c};
  return stack(all, -1);
}

Tensor drawn(std::string_view name, double low, double high) {
  if (!(low <= high)) fail("[", name, "] the bounds are in order. Received: ", low, ", ", high);
  return random::uniform({}, low, high);
}

Tensor drawn_factor(std::string_view name, double lower, double upper) {
  if (lower < 0 || upper <= lower) {
    fail("[", name, "] 0 <= lower < upper. Received: ", lower, " and ", upper);
  }
  return drawn(name, lower, upper);
}

Tensor drawn_delta(std::string_view name, double max_delta) {
  if (max_delta < 0) fail("[", name, "] `max_delta` is not negative. Received: ", max_delta);
  return drawn(name, -max_delta, max_delta);
}

}  // namespace

Tensor convert_image_dtype(const Tensor& image, DType dtype, bool saturate) {
  TIDEMARK_HERE;
  const DType own = image.dtype();
  if (!kReal.contains(dtype) || !kReal.contains(own)) {
    fail("[convert_image_dtype] takes and gives integers or floats. Received: ", name_of(own),
         " and ", name_of(dtype));
  }
  const auto converted = [&](const Tensor& x) {
    return saturate ? saturate_cast(x, dtype) : cast(x, dtype);
  };
  if (own == dtype) return image;
  if (is_floating(own) && is_floating(dtype)) return cast(image, dtype);
  if (is_integer(own) && is_integer(dtype)) {
    const uint64_t mine = nn::integer_range(own).highest;
    const uint64_t theirs = nn::integer_range(dtype).highest;
    if (mine < theirs) {
      const Tensor up = cast(image, dtype);
      return up * number(static_cast<double>((theirs + 1) / (mine + 1)), up);
    }
    const Tensor down = number(static_cast<double>((mine + 1) / (theirs + 1)), image);
    return converted(floordiv(image, down));
  }
  if (is_integer(own)) {
    const Tensor up = cast(image, dtype);
    return up * number(1 / nn::highest_number(own), up);
  }
  return converted(image * number(nn::highest_number(dtype) + 0.5, image));
}

Tensor rgb_to_grayscale(const Tensor& images) {
  TIDEMARK_HERE;
  const Tensor floats = convert_image_dtype(images, DType::float32);
  return convert_image_dtype(mixed("rgb_to_grayscale", floats, kToGray), images.dtype());
}

Tensor grayscale_to_rgb(const Tensor& images) {
  TIDEMARK_HERE;
  check_channels("grayscale_to_rgb", images, 1);
  Ints times(static_cast<size_t>(images.rank()), 1);
  times.back() = 3;
  return tile(images, nn::vector_of(times));
}

Tensor rgb_to_yiq(const Tensor& images) {
  TIDEMARK_HERE;
  return mixed("rgb_to_yiq", images, kRgbToYiq);
}

Tensor yiq_to_rgb(const Tensor& images) {
  TIDEMARK_HERE;
  return mixed("yiq_to_rgb", images, kYiqToRgb);
}

Tensor rgb_to_yuv(const Tensor& images) {
  TIDEMARK_HERE;
  return mixed("rgb_to_yuv", images, kRgbToYuv);
}

Tensor yuv_to_rgb(const Tensor& images) {
  TIDEMARK_HERE;
  return mixed("yuv_to_rgb", images, kYuvToRgb);
}

Tensor rgb_to_hsv(const Tensor& images) {
  TIDEMARK_HERE;
  const Tensor x = is_floating(images.dtype()) ? images : cast(images, DType::float32);
  check_channels("rgb_to_hsv", x, 3);
  const Tensor r = channel(x, 0), g = channel(x, 1), b = channel(x, 2);
  const Tensor value = max(x, Ints{-1}), spread = value - min(x, Ints{-1});
  const Tensor zero = number(0, x), none = zeros_like(value);
  const Tensor saturation = select(greater(value, zero), divide_no_nan(spread, value), none);
  const Tensor sixth = divide_no_nan(number(1.0 / 6, x), spread);
  const Tensor of_green = sixth * (b - r) + number(2.0 / 6, x);
  const Tensor of_blue = sixth * (r - g) + number(4.0 / 6, x);
  Tensor hue = select(equal(r, value), sixth * (g - b), select(equal(g, value), of_green, of_blue));
  hue = select(greater(spread, zero), hue, none);
  hue = select(less(hue, zero), hue + number(1, x), hue);
  return joined(hue, saturation, value);
}

Tensor hsv_to_rgb(const Tensor& images) {
  TIDEMARK_HERE;
  const Tensor x = is_floating(images.dtype()) ? images : cast(images, DType::float32);
  check_channels("hsv_to_rgb", x, 3);
  const Tensor zero = number(0, x), one = number(1, x), two = number(2, x);
  const Tensor sixths = channel(x, 0) * number(6, x);
  const Tensor saturation = channel(x, 1), value = channel(x, 2);
  const auto of = [&](const Tensor& strength) {
    return ((clip_by_value(strength, zero, one) - one) * saturation + one) * value;
  };
  return joined(of(abs(sixths - number(3, x)) - one), of(two - abs(sixths - two)),
                of(two - abs(sixths - number(4, x))));
}

Tensor adjust_brightness(const Tensor& image, const Tensor& delta) {
  TIDEMARK_HERE;
  return in_floats(image, [&](const Tensor& x) { return x + cast(delta, x.dtype()); });
}

Tensor adjust_contrast(const Tensor& images, const Tensor& contrast_factor) {
  TIDEMARK_HERE;
  check_pictures("adjust_contrast", images);
  return in_floats(images, [&](const Tensor& x) {
    const Tensor centre = mean(x, Ints{-3, -2}, true);
    return (x - centre) * cast(contrast_factor, x.dtype()) + centre;
  });
}

Tensor adjust_gamma(const Tensor& image, double gamma, double gain) {
  TIDEMARK_HERE;
  if (gamma < 0) fail("[adjust_gamma] `gamma` is not negative. Received: ", gamma);
  return in_floats(image,
                   [&](const Tensor& x) { return pow(x, number(gamma, x)) * number(gain, x); });
}

Tensor adjust_hue(const Tensor& image, const Tensor& delta) {
  TIDEMARK_HERE;
  return in_floats(image, [&](const Tensor& x) {
    const Tensor hsv = rgb_to_hsv(x);
    const Tensor hue = floormod(part(hsv, -1, 0, 1) + cast(delta, x.dtype()), number(1, x));
    const Tensor both[] = {hue, part(hsv, -1, 1)};
    return hsv_to_rgb(concat(both, -1));
  });
}

Tensor adjust_saturation(const Tensor& image, const Tensor& saturation_factor) {
  TIDEMARK_HERE;
  return in_floats(image, [&](const Tensor& x) {
    const Tensor hsv = rgb_to_hsv(x);
    const Tensor scaled = part(hsv, -1, 1, 1) * cast(saturation_factor, x.dtype());
    const Tensor all[] = {part(hsv, -1, 0, 1), clip_by_value(scaled, number(0, x), number(1, x)),
                          part(hsv, -1, 2)};
    return hsv_to_rgb(concat(all, -1));
  });
}

Tensor per_image_standardization(const Tensor& image) {
  TIDEMARK_HERE;
  check_pictures("per_image_standardization", image);
  const Tensor x = is_floating(image.dtype()) ? image : cast(image, DType::float32);
  int64_t count = 1;
  for (int i = 1; i <= 3; ++i) count *= nn::known_size("per_image_standardization", x, -i);
  const Ints axes = {-1, -2, -3};
  const double least = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(count, 1)));
  return (x - mean(x, axes, true)) / maximum(math::reduce_std(x, axes, true), number(least, x));
}

Tensor random_brightness(const Tensor& image, double max_delta) {
  TIDEMARK_HERE;
  return adjust_brightness(image, drawn_delta("random_brightness", max_delta));
}

Tensor random_contrast(const Tensor& image, double lower, double upper) {
  TIDEMARK_HERE;
  return adjust_contrast(image, drawn_factor("random_contrast", lower, upper));
}

Tensor random_hue(const Tensor& image, double max_delta) {
  TIDEMARK_HERE;
  if (max_delta > 0.5) fail("[random_hue] `max_delta` is at most 0.5. Received: ", max_delta);
  return adjust_hue(image, drawn_delta("random_hue", max_delta));
}

Tensor random_saturation(const Tensor& image, double lower, double upper) {
  TIDEMARK_HERE;
  return adjust_saturation(image, drawn_factor("random_saturation", lower, upper));
}

}  // namespace tidemark::image
