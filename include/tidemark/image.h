// Pictures: files to pixels, sizes, mirrors. Under TensorFlow's names.
//
//   td::Tensor pixels = td::image::decode_image(td::io::read_file("cat.png"), {.channels = 3});
//   td::Tensor small = td::image::resize(pixels, {32, 32});       // float32, bilinear
//   td::Tensor other = td::image::flip_left_right(small) * (1.f / 255.f);
//
// Pictures are [height, width, channels], or a batch of them. td::data::from_image_folder reads a
// folder of them.
#pragma once

#include <tidemark/attr.h>
#include <tidemark/ops.h>
#include <tidemark/random.h>

#include <optional>
#include <string>
#include <vector>

namespace tidemark::image {

struct DecodeOptions {
  int64_t channels = 0;  // 0: as many as the file has
  DType dtype = DType::uint8;
};
/// The pixels of a PNG, JPEG, BMP or GIF file (of that its first picture).
TIDEMARK_API Tensor decode_image(const Tensor& contents, const DecodeOptions& options = {});
TIDEMARK_API Tensor decode_png(const Tensor& contents, const DecodeOptions& options = {});
TIDEMARK_API Tensor decode_jpeg(const Tensor& contents, const DecodeOptions& options = {});
struct DecodeJpegOptions {
  int64_t channels = 0, ratio = 1;  // smaller by 1, 2, 4 or 8 on the way
  bool fancy_upscaling = true, try_recover_truncated = false;
  double acceptable_fraction = 1;
  std::string dct_method = "";  // "INTEGER_FAST", "INTEGER_ACCURATE"
};
/// A part of a JPEG file's pixels: [top, left, height, width].
TIDEMARK_API Tensor decode_and_crop_jpeg(const Tensor& contents, const Tensor& crop_window,
                                         const DecodeJpegOptions& options = {});
/// A picture as it is after being stored as a JPEG file of that quality, from 0 to 100; or of one
/// drawn from [min_jpeg_quality, max_jpeg_quality).
TIDEMARK_API Tensor adjust_jpeg_quality(const Tensor& image, const Tensor& jpeg_quality,
                                        const std::string& dct_method = "");
TIDEMARK_API Tensor random_jpeg_quality(const Tensor& image, int64_t min_jpeg_quality,
                                        int64_t max_jpeg_quality,
                                        std::optional<int64_t> seed = std::nullopt);
TIDEMARK_API Tensor stateless_random_jpeg_quality(const Tensor& image, int64_t min_jpeg_quality,
                                                  int64_t max_jpeg_quality, random::Seed seed);
TIDEMARK_API Tensor decode_bmp(const Tensor& contents, const DecodeOptions& options = {});
/// The frames of a GIF file.
TIDEMARK_API Tensor decode_gif(const Tensor& contents);
/// Whether a string begins as a JPEG file does.
TIDEMARK_API Tensor is_jpeg(const Tensor& contents);

struct ResizeOptions {
  std::string method = "bilinear";  // "nearest", "bicubic", "area", "lanczos3", …
  bool antialias = false;
};
/// Pictures of the size (height, width), as float32 unless they are float64.
TIDEMARK_API Tensor resize(const Tensor& images, const Ints& size,
                           const ResizeOptions& options = {});

/// Of the given size, the proportions kept, with zeros around.
TIDEMARK_API Tensor resize_with_pad(const Tensor& image, int64_t target_height,
                                    int64_t target_width, const ResizeOptions& options = {});
/// Cut or filled up with zeros, evenly on both sides.
TIDEMARK_API Tensor resize_with_crop_or_pad(const Tensor& image, int64_t target_height,
                                            int64_t target_width);

// --- parts and turns ----------------------------------------------------------------------------

/// The part at an offset, of the given size; and pictures in a larger field of zeros.
TIDEMARK_API Tensor crop_to_bounding_box(const Tensor& image, int64_t offset_height,
                                         int64_t offset_width, int64_t target_height,
                                         int64_t target_width);
TIDEMARK_API Tensor pad_to_bounding_box(const Tensor& image, int64_t offset_height,
                                        int64_t offset_width, int64_t target_height,
                                        int64_t target_width);
/// The middle: that fraction of height and width.
TIDEMARK_API Tensor central_crop(const Tensor& image, double central_fraction);
TIDEMARK_API Tensor flip_left_right(const Tensor& image);
TIDEMARK_API Tensor flip_up_down(const Tensor& image);
/// Rows and columns exchanged.
TIDEMARK_API Tensor transpose(const Tensor& image);
/// Turned counter-clockwise by k quarters.
TIDEMARK_API Tensor rot90(const Tensor& image, int64_t k = 1);

// --- colours ------------------------------------------------------------------------------------

/// In another dtype; floats stand for 0 to 1.
TIDEMARK_API Tensor convert_image_dtype(const Tensor& image, DType dtype, bool saturate = false);
TIDEMARK_API Tensor rgb_to_grayscale(const Tensor& images);
TIDEMARK_API Tensor grayscale_to_rgb(const Tensor& images);
TIDEMARK_API Tensor rgb_to_hsv(const Tensor& images);
TIDEMARK_API Tensor hsv_to_rgb(const Tensor& images);
TIDEMARK_API Tensor rgb_to_yiq(const Tensor& images);
TIDEMARK_API Tensor yiq_to_rgb(const Tensor& images);
TIDEMARK_API Tensor rgb_to_yuv(const Tensor& images);
TIDEMARK_API Tensor yuv_to_rgb(const Tensor& images);
/// `delta` added, as a part of the full range.
TIDEMARK_API Tensor adjust_brightness(const Tensor& image, const Tensor& delta);
/// Distances from the mean of each channel multiplied.
TIDEMARK_API Tensor adjust_contrast(const Tensor& images, const Tensor& contrast_factor);
/// gain · image ^ gamma.
TIDEMARK_API Tensor adjust_gamma(const Tensor& image, double gamma = 1, double gain = 1);
/// Hue turned by delta, from -1 to 1.
TIDEMARK_API Tensor adjust_hue(const Tensor& image, const Tensor& delta);
TIDEMARK_API Tensor adjust_saturation(const Tensor& image, const Tensor& saturation_factor);
/// Each picture with mean 0 and deviation 1.
TIDEMARK_API Tensor per_image_standardization(const Tensor& image);

// --- chance -------------------------------------------------------------------------------------

/// One picture, mirrored every other time, or changed by a random amount; in a function drawn anew
/// in each call.
TIDEMARK_API Tensor random_flip_left_right(const Tensor& image);
TIDEMARK_API Tensor random_flip_up_down(const Tensor& image);
TIDEMARK_API Tensor random_brightness(const Tensor& image, double max_delta);
TIDEMARK_API Tensor random_contrast(const Tensor& image, double lower, double upper);
TIDEMARK_API Tensor random_hue(const Tensor& image, double max_delta);
TIDEMARK_API Tensor random_saturation(const Tensor& image, double lower, double upper);
/// A part of that size, anywhere.
TIDEMARK_API Tensor random_crop(const Tensor& value, const Ints& size);

/// The same as functions of a seed.
TIDEMARK_API Tensor stateless_random_flip_left_right(const Tensor& image, random::Seed seed);
TIDEMARK_API Tensor stateless_random_flip_up_down(const Tensor& image, random::Seed seed);
TIDEMARK_API Tensor stateless_random_brightness(const Tensor& image, double max_delta,
                                                random::Seed seed);
TIDEMARK_API Tensor stateless_random_contrast(const Tensor& image, double lower, double upper,
                                              random::Seed seed);
TIDEMARK_API Tensor stateless_random_hue(const Tensor& image, double max_delta, random::Seed seed);
TIDEMARK_API Tensor stateless_random_saturation(const Tensor& image, double lower, double upper,
                                                random::Seed seed);
TIDEMARK_API Tensor stateless_random_crop(const Tensor& value, const Ints& size, random::Seed seed);

// --- windows and boxes --------------------------------------------------------------------------

struct PatchOptions {
  Ints strides = {1, 1}, rates = {1, 1};
  std::string padding = "VALID";
};
/// Patches of the sizes (height, width), each laid out in the last dimension.
TIDEMARK_API Tensor extract_patches(const Tensor& images, const Ints& sizes,
                                    const PatchOptions& options = {});
struct CropOptions {
  std::string method = "bilinear";  // "nearest"
  double extrapolation_value = 0;
};
/// Parts of pictures, boxes [top, left, bottom, right] in relative coordinates, resized to one
/// size.
TIDEMARK_API Tensor crop_and_resize(const Tensor& image, const Tensor& boxes,
                                    const Tensor& box_indices, const Ints& crop_size,
                                    const CropOptions& options = {});

// --- comparisons and edges ----------------------------------------------------------------------

/// Peak signal-to-noise ratio of pairs of pictures, in decibels.
TIDEMARK_API Tensor psnr(const Tensor& a, const Tensor& b, double max_val);
struct SsimOptions {
  int64_t filter_size = 11;
  double filter_sigma = 1.5, k1 = 0.01, k2 = 0.03;
};
/// Structural similarity: 1 for the same, lower for less alike.
TIDEMARK_API Tensor ssim(const Tensor& img1, const Tensor& img2, double max_val,
                         const SsimOptions& options = {});
struct MultiscaleSsimOptions {
  std::vector<double> power_factors = {0.0448, 0.2856, 0.3001, 0.2363, 0.1333};
  int64_t filter_size = 11;
  double filter_sigma = 1.5, k1 = 0.01, k2 = 0.03;
};
/// Structural similarity over several sizes of the pictures, each half of the one before.
TIDEMARK_API Tensor ssim_multiscale(const Tensor& img1, const Tensor& img2, double max_val,
                                    const MultiscaleSsimOptions& options = {});
/// The sum of differences between neighbouring pixels.
TIDEMARK_API Tensor total_variation(const Tensor& images);
struct ImageGradients {
  Tensor dy, dx;
};
/// Differences to the next pixel down and across; zero at the last.
TIDEMARK_API ImageGradients image_gradients(const Tensor& image);
/// How fast each channel changes downwards and to the right, along a new last dimension.
TIDEMARK_API Tensor sobel_edges(const Tensor& image);

}  // namespace tidemark::image

namespace tidemark::io {
using image::decode_and_crop_jpeg;
using image::decode_bmp;
using image::decode_gif;
using image::decode_image;
using image::decode_jpeg;
using image::decode_png;
using image::is_jpeg;
using tidemark::decode_compressed;
}  // namespace tidemark::io
