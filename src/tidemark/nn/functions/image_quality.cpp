// Comparisons of pictures, differences between their pixels.
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

/// Two batches of pictures, and the largest number that a pixel can be.
struct Compared {
  Tensor x, y, largest;
  bool is_single;
};

void check_larger_than_filter(std::string_view name, const Tensor& images,
                              const SsimOptions& options) {
  check_pictures(name, images);
  for (const int axis : {-3, -2}) {
    if (known_size(name, images, axis) >= options.filter_size) continue;
    fail("[", name, "] pictures are not smaller than the filter, ", options.filter_size, " x ",
         options.filter_size, ". Received shape: ", images.shape());
  }
}

Compared to_compare(std::string_view name, const Tensor& img1, const Tensor& img2, double max_val,
                    const SsimOptions& options) {
  check_pictures(name, img2);
  check_larger_than_filter(name, img1, options);
  const auto as_floats = [](const Tensor& image) {
    const Tensor floats = convert_image_dtype(image, DType::float32);
    return floats.rank() == 3 ? expand_dims(floats, 0) : floats;
  };
  return {as_floats(img1), as_floats(img2),
          convert_image_dtype(number(max_val, img1), DType::float32),
          img1.rank() == 3 && img2.rank() == 3};
}

/// At each place: of brightness and contrast together, and of contrast alone.
struct Likeness {
  Tensor whole, contrast;
};
Likeness likeness(const Compared& of, const SsimOptions& options) {
  const Tensor c1 = square(of.largest * static_cast<float>(options.k1));
  const Tensor c2 = square(of.largest * static_cast<float>(options.k2));
  const Tensor kernel = gaussian(options.filter_size, options.filter_sigma);
  const Tensor mean_x = filtered(of.x, kernel), mean_y = filtered(of.y, kernel);
  const Tensor both = mean_x * mean_y * 2.f, squares = square(mean_x) + square(mean_y);
  const Tensor luminance = (both + c1) / (squares + c1);
  const Tensor products = filtered(of.x * of.y, kernel) * 2.f;
  const Tensor all_squares = filtered(square(of.x) + square(of.y), kernel);
  const Tensor contrast = (products - both + c2) / (all_squares - squares + c2);
  return {luminance * contrast, contrast};
}

/// Pictures of half the size, odd ones with their last row or column twice.
Tensor halved(const Tensor& images) {
  const int64_t down = known_size("ssim_multiscale", images, -3) % 2;
  const int64_t across = known_size("ssim_multiscale", images, -2) % 2;
  const Tensor edges =
      reshape(nn::vector_of({0, 0, 0, down, 0, across, 0, 0}), nn::vector_of({4, 2}));
  const Tensor even =
      down + across > 0 ? pad(images, edges, "SYMMETRIC", number(0, images)) : images;
  return nn::avg_pool2d(even, {2, 2}, {.strides = {2, 2}, .padding = "VALID"});
}

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
  const Compared compared = to_compare("ssim", img1, img2, max_val, options);
  const Tensor whole = likeness(compared, options).whole;
  const Tensor found = mean(mean(whole, Ints{-3, -2}), Ints{-1});
  return compared.is_single ? squeeze(found, Ints{0}) : found;
}

Tensor ssim_multiscale(const Tensor& img1, const Tensor& img2, double max_val,
                       const MultiscaleSsimOptions& options) {
  TIDEMARK_HERE;
  const SsimOptions how{options.filter_size, options.filter_sigma, options.k1, options.k2};
  Compared compared = to_compare("ssim_multiscale", img1, img2, max_val, how);
  if (options.power_factors.empty()) fail("[ssim_multiscale] there is a power factor");
  std::vector<Tensor> scales;
  std::vector<float> powers;
  for (size_t scale = 0; scale < options.power_factors.size(); ++scale) {
    if (scale > 0) {
      compared.x = halved(compared.x);
      compared.y = halved(compared.y);
      check_larger_than_filter("ssim_multiscale", compared.x, how);
    }
    const Likeness found = likeness(compared, how);
    const bool is_last = scale + 1 == options.power_factors.size();
    scales.push_back(relu(mean(is_last ? found.whole : found.contrast, Ints{-3, -2})));
    powers.push_back(static_cast<float>(options.power_factors[scale]));
  }
  const auto count = static_cast<int64_t>(powers.size());
  const Tensor raised = pow(stack(scales, -1), Tensor::of(std::span<const float>(powers), {count}));
  const Tensor found = mean(prod(raised, Ints{-1}), Ints{-1});
  return compared.is_single ? squeeze(found, Ints{0}) : found;
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

}  // namespace tidemark::image
