// Comparisons of pictures, differences between their pixels, boxes.
#include <tidemark/call.h>
#include <tidemark/image.h>
#include <tidemark/nn_functions.h>

#include <array>
#include <cmath>

#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/pictures.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::image {

namespace {

using nn::known_size;
using nn::number;
using nn::part;

Tensor gaussian(int64_t size, double sigma) {
  const Tensor places =
      nn::steps(size, DType::float32) - static_cast<float>(static_cast<double>(size - 1) / 2);
  const Tensor falling = square(places) * static_cast<float>(-0.5 / (sigma * sigma));
  const Tensor grid =
      reshape(expand_dims(falling, 0) + expand_dims(falling, 1), nn::vector_of({1, -1}));
  return reshape(softmax(grid), nn::vector_of({size, size, 1, 1}));
}

/// Each channel convolved with the kernel, without padding.
Tensor filtered(const Tensor& images, const Tensor& kernel) {
  const int64_t channels = known_size("ssim", images, -1);
  const Tensor each = tile(kernel, nn::vector_of({1, 1, channels, 1}));
  return nn::depthwise_conv2d(images, each, {.padding = "VALID"});
}

Tensor last_mean(const Tensor& x, const Ints& axes) { return mean(x, axes); }

/// Each pixel's difference to the next along the axis.
Tensor differences(std::string_view name, const Tensor& x, int axis) {
  return part(x, axis, 1) - part(x, axis, 0, known_size(name, x, axis) - 1);
}

constexpr std::array<float, 18> kSobel = {-1, -1, -2, 0, -1, 1, 0, -2, 0,
                                          0,  0,  2,  1, -1, 2, 0, 1,  1};

}  // namespace

Tensor psnr(const Tensor& a, const Tensor& b, double max_val) {
  TIDEMARK_HERE;
  const Tensor scale = convert_image_dtype(number(max_val, a), DType::float32);
  const Tensor first = convert_image_dtype(a, DType::float32);
  const Tensor second = convert_image_dtype(b, DType::float32);
  const Tensor error = mean(squared_difference(first, second), Ints{-3, -2, -1});
  constexpr float kPerNaturalLog = 1 / 2.302585092994046f;
  return (log(scale) * 20.f - log(error) * 10.f) * kPerNaturalLog;
}

Tensor ssim(const Tensor& img1, const Tensor& img2, double max_val, const SsimOptions& options) {
  TIDEMARK_HERE;
  check_pictures("ssim", img1);
  check_pictures("ssim", img2);
  for (const int axis : {-3, -2}) {
    if (known_size("ssim", img1, axis) >= options.filter_size) continue;
    fail("[ssim] pictures are not smaller than the filter, ", options.filter_size, " x ",
         options.filter_size, ". Received shape: ", img1.shape());
  }
  const auto as_floats = [](const Tensor& image) {
    const Tensor floats = convert_image_dtype(image, DType::float32);
    return floats.rank() == 3 ? expand_dims(floats, 0) : floats;
  };
  const Tensor x = as_floats(img1), y = as_floats(img2);
  const Tensor largest = convert_image_dtype(number(max_val, img1), DType::float32);
  const Tensor c1 = square(largest * static_cast<float>(options.k1));
  const Tensor c2 = square(largest * static_cast<float>(options.k2));
  const Tensor kernel = gaussian(options.filter_size, options.filter_sigma);
  const Tensor mean_x = filtered(x, kernel), mean_y = filtered(y, kernel);
  const Tensor both = mean_x * mean_y * 2.f, squares = square(mean_x) + square(mean_y);
  const Tensor luminance = (both + c1) / (squares + c1);
  const Tensor products = filtered(x * y, kernel) * 2.f;
  const Tensor all_squares = filtered(square(x) + square(y), kernel);
  const Tensor contrast = (products - both + c2) / (all_squares - squares + c2);
  const Tensor found = last_mean(last_mean(luminance * contrast, {-3, -2}), {-1});
  return img1.rank() == 3 && img2.rank() == 3 ? squeeze(found, Ints{0}) : found;
}

Tensor total_variation(const Tensor& images) {
  TIDEMARK_HERE;
  check_pictures("total_variation", images);
  const auto along = [&](int axis) {
    return sum(abs(differences("total_variation", images, axis)), Ints{-3, -2, -1});
  };
  return along(-3) + along(-2);
}

ImageGradients image_gradients(const Tensor& image) {
  TIDEMARK_HERE;
  if (image.rank() != 4) {
    fail("[image_gradients] takes a batch of pictures. Received shape: ", image.shape());
  }
  const auto along = [&](int axis) {
    return nn::padded(differences("image_gradients", image, axis), axis, 0, 1);
  };
  return {along(1), along(2)};
}

Tensor sobel_edges(const Tensor& image) {
  TIDEMARK_HERE;
  if (image.rank() != 4) {
    fail("[sobel_edges] takes a batch of pictures. Received shape: ", image.shape());
  }
  const int64_t channels = known_size("sobel_edges", image, -1);
  const Tensor kernels = Tensor::of(std::span<const float>(kSobel), {3, 3, 1, 2});
  const Tensor each = tile(cast(kernels, image.dtype()), nn::vector_of({1, 1, channels, 1}));
  const Tensor edges = reshape(nn::vector_of({0, 0, 1, 1, 1, 1, 0, 0}), nn::vector_of({4, 2}));
  const Tensor around = pad(image, edges, "REFLECT", number(0, image));
  return reshape(nn::depthwise_conv2d(around, each), nn::sizes_then(image, 4, {2}));
}

Tensor non_max_suppression(const Tensor& boxes, const Tensor& scores, int64_t max_output_size,
                           const SuppressionOptions& options) {
  TIDEMARK_HERE;
  return tidemark::non_max_suppression(
      boxes, scores, Tensor(static_cast<int32_t>(max_output_size)),
      {.iou_threshold = options.iou_threshold, .score_threshold = options.score_threshold})[0];
}

}  // namespace tidemark::image
