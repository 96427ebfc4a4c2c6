// Functions of tf.nn and tf.image.
#include "function_twin.h"

namespace td = tidemark;

namespace function_twin {

namespace {
namespace nn = tidemark::nn;
namespace im = tidemark::image;
}  // namespace

Functions nn_functions() {
  return {
      {"nn.crelu", [](const Tensors& x) { return Tensors{nn::crelu(x[0])}; }},
      {"nn.depthwise_conv2d",
       [](const Tensors& x) {
         return Tensors{nn::depthwise_conv2d(x[0], x[1], {.strides = {2, 2}, .padding = "SAME"})};
       }},
      {"nn.depthwise_conv2d_backprop",
       [](const Tensors& x) {
         return Tensors{nn::depthwise_conv2d_backprop_input({2, 7, 6, 3}, x[1], x[2]),
                        nn::depthwise_conv2d_backprop_filter(x[0], {3, 3, 3, 2}, x[2])};
       }},
      {"nn.separable_conv2d",
       [](const Tensors& x) { return Tensors{nn::separable_conv2d(x[0], x[1], x[2])}; }},
      {"nn.atrous_conv2d",
       [](const Tensors& x) { return Tensors{nn::atrous_conv2d(x[0], x[1], 2, "SAME")}; }},
      {"nn.conv1d_transpose",
       [](const Tensors& x) {
         return Tensors{nn::conv1d_transpose(x[0], x[1], {2, 8, 3}, {.strides = {2}})};
       }},
      {"nn.conv2d_transpose",
       [](const Tensors& x) {
         return Tensors{nn::conv2d_transpose(x[0], x[1], {1, 9, 9, 3},
                                             {.strides = {2, 2}, .padding = "VALID"})};
       }},
      {"nn.conv3d_transpose",
       [](const Tensors& x) {
         return Tensors{nn::conv3d_transpose(x[0], x[1], {1, 2, 3, 4, 3})};
       }},
      {"nn.max_pool1d",
       [](const Tensors& x) { return Tensors{nn::max_pool1d(x[0], {2}, {.strides = {2}})}; }},
      {"nn.avg_pool3d",
       [](const Tensors& x) {
         return Tensors{nn::avg_pool3d(x[0], {2, 2, 2}, {.strides = {1, 1, 1}, .padding = "SAME"})};
       }},
      {"nn.pool",
       [](const Tensors& x) {
         return Tensors{nn::pool(x[0], {2, 2}, "AVG", {.strides = {1, 1}}),
                        nn::pool(x[0], {2, 2}, "MAX", {.strides = {1, 1}})};
       }},
      {"nn.dilation2d",
       [](const Tensors& x) {
         return Tensors{nn::dilation2d(x[0], x[1]),
                        nn::dilation2d(x[0], x[1], {.strides = {2, 2}, .padding = "SAME"}),
                        nn::erosion2d(x[0], x[1], {.dilations = {2, 1}})};
       }},
      {"nn.space_to_depth",
       [](const Tensors& x) {
         const td::Tensor deep = nn::space_to_depth(x[0], 2);
         return Tensors{deep, nn::depth_to_space(deep, 2)};
       }},
      {"nn.embedding_lookup",
       [](const Tensors& x) {
         return Tensors{nn::embedding_lookup(x[0], x[1]), nn::embedding_lookup(x[0], x[1], 0.5)};
       }},
      {"nn.weighted_cross_entropy_with_logits",
       [](const Tensors& x) {
         return Tensors{nn::weighted_cross_entropy_with_logits(x[0], x[1], 2.f)};
       }},
      {"nn.log_poisson_loss",
       [](const Tensors& x) {
         return Tensors{nn::log_poisson_loss(x[0], x[1]), nn::log_poisson_loss(x[0], x[1], true)};
       }},
      {"nn.compute_average_loss",
       [](const Tensors& x) {
         return Tensors{
             nn::compute_average_loss(x[0]),
             nn::compute_average_loss(x[0], {.sample_weight = x[1], .global_batch_size = 8})};
       }},
      {"nn.ctc_loss",
       [](const Tensors& x) { return Tensors{nn::ctc_loss(x[0], x[1], x[2], x[3])}; }},
      {"nn.local_response_normalization",
       [](const Tensors& x) {
         return Tensors{nn::local_response_normalization(x[0]), nn::lrn(x[0], {.depth_radius = 1})};
       }},
      {"nn.moments",
       [](const Tensors& x) {
         const auto [mean, variance] = nn::moments(x[0], {0, 1});
         const auto counted = nn::sufficient_statistics(x[0], {0, 1});
         const auto [again, spread] =
             nn::normalize_moments(counted.count, counted.sum, counted.sum_of_squares);
         return Tensors{mean, variance, again, spread};
       }},
      {"nn.weighted_moments",
       [](const Tensors& x) {
         const auto [mean, variance] = nn::weighted_moments(x[0], {0}, x[1]);
         return Tensors{mean, variance};
       }},
  };
}

Functions image_functions() {
  return {
      {"image.crop",
       [](const Tensors& x) {
         return Tensors{im::crop_to_bounding_box(x[0], 1, 2, 3, 2),
                        im::pad_to_bounding_box(x[0], 1, 2, 9, 10), im::central_crop(x[0], 0.5),
                        im::resize_with_crop_or_pad(x[0], 3, 9), im::resize_with_pad(x[0], 9, 5)};
       }},
      {"image.turns",
       [](const Tensors& x) {
         return Tensors{im::flip_left_right(x[0]), im::flip_up_down(x[0]), im::transpose(x[0]),
                        im::rot90(x[0]),           im::rot90(x[0], 2),     im::rot90(x[0], 3)};
       }},
      {"image.convert_image_dtype",
       [](const Tensors& x) {
         const td::Tensor bytes = td::cast(x[0], td::uint8);
         return Tensors{im::convert_image_dtype(bytes, td::float32),
                        im::convert_image_dtype(bytes, td::uint16),
                        im::convert_image_dtype(im::convert_image_dtype(bytes, td::float32) * 2.f,
                                                td::uint8, true),
                        im::rgb_to_grayscale(bytes)};
       }},
      {"image.colours",
       [](const Tensors& x) {
         return Tensors{
             im::rgb_to_grayscale(x[0]), im::rgb_to_hsv(x[0]),
             im::hsv_to_rgb(x[0]),       im::rgb_to_yiq(x[0]),
             im::yiq_to_rgb(x[0]),       im::rgb_to_yuv(x[0]),
             im::yuv_to_rgb(x[0]),       im::grayscale_to_rgb(im::rgb_to_grayscale(x[0]))};
       }},
      {"image.adjust",
       [](const Tensors& x) {
         return Tensors{im::adjust_brightness(x[0], 0.1f), im::adjust_contrast(x[0], 1.5f),
                        im::adjust_gamma(x[0], 2, 0.5),    im::adjust_hue(x[0], 0.2f),
                        im::adjust_saturation(x[0], 0.5f), im::per_image_standardization(x[0])};
       }},
      {"image.psnr", [](const Tensors& x) { return Tensors{im::psnr(x[0], x[1], 1)}; }},
      {"image.ssim",
       [](const Tensors& x) {
         return Tensors{im::ssim(x[0], x[1], 1), im::ssim(x[0], x[1], 1, {.filter_size = 3})};
       }},
      {"image.stateless_random",
       [](const Tensors& x) {
         const td::random::Seed seed{3, 4};
         return Tensors{im::stateless_random_flip_left_right(x[0], seed),
                        im::stateless_random_flip_up_down(x[0], seed),
                        im::stateless_random_brightness(x[0], 0.3, seed),
                        im::stateless_random_contrast(x[0], 0.5, 2, seed),
                        im::stateless_random_hue(x[0], 0.3, seed),
                        im::stateless_random_saturation(x[0], 0.5, 2, seed),
                        im::stateless_random_crop(x[0], {2, 3, 4, 1}, seed)};
       }},
      {"image.extract_patches",
       [](const Tensors& x) {
         return Tensors{im::extract_patches(x[0], {3, 2}),
                        im::extract_patches(
                            x[0], {2, 3}, {.strides = {2, 1}, .rates = {1, 2}, .padding = "SAME"})};
       }},
      {"image.crop_and_resize",
       [](const Tensors& x) {
         return Tensors{im::crop_and_resize(x[0], x[1], x[2], {3, 4}),
                        im::crop_and_resize(x[0], x[1], x[2], {1, 2},
                                            {.method = "nearest", .extrapolation_value = -1})};
       }},
      {"image.edges",
       [](const Tensors& x) {
         const auto [dy, dx] = im::image_gradients(x[0]);
         return Tensors{im::total_variation(x[0]), dy, dx, im::sobel_edges(x[0])};
       }},
      {"image.non_max_suppression",
       [](const Tensors& x) {
         return Tensors{im::non_max_suppression(x[0], x[1], 3),
                        im::non_max_suppression(x[0], x[1], 3, {.score_threshold = 0.5})};
       }},
  };
}

}  // namespace function_twin
