// Parts of JPEG files, and pictures as such files keep them.
#include <tidemark/call.h>
#include <tidemark/image.h>

#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/when_run.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::image {

namespace {

Tensor again(const Tensor& pixels, int64_t quality, const std::string& dct_method) {
  return decode_image_file(encode_jpeg(pixels, {.quality = quality}),
                           {.channels = pixels.dim(-1), .dct_method = dct_method});
}

void check_qualities(int64_t least, int64_t most) {
  if (least >= 0 && most <= 100 && least < most) return;
  fail("`min_jpeg_quality` must be less than `max_jpeg_quality`, and both in [0, 100]. Received: ",
       least, " and ", most);
}

}  // namespace

Tensor decode_and_crop_jpeg(const Tensor& contents, const Tensor& crop_window,
                            const DecodeJpegOptions& options) {
  TIDEMARK_HERE;
  const Tensor image =
      decode_image_file(contents, {.channels = options.channels,
                                   .ratio = options.ratio,
                                   .fancy_upscaling = options.fancy_upscaling,
                                   .try_recover_truncated = options.try_recover_truncated,
                                   .acceptable_fraction = options.acceptable_fraction,
                                   .dct_method = options.dct_method});
  const Tensor window = cast(crop_window, DType::int32);
  const Tensor begin[] = {nn::part(window, 0, 0, 2), nn::vector_of({0})};
  const Tensor size[] = {nn::part(window, 0, 2, 2), nn::vector_of({-1})};
  return slice(image, concat(begin, 0), concat(size, 0));
}

Tensor adjust_jpeg_quality(const Tensor& image, const Tensor& jpeg_quality,
                           const std::string& dct_method) {
  TIDEMARK_HERE;
  if (image.dtype() != DType::uint8 && image.dtype() != DType::float32) {
    fail("[adjust_jpeg_quality] image must be uint8 or float32, got ", name_of(image.dtype()));
  }
  const Tensor pixels = convert_image_dtype(image, DType::uint8, true);
  const Tensor stored =
      nn::when_run("adjust_jpeg_quality",
                   [dct_method](const std::vector<Tensor>& given) {
                     return std::vector{again(given[0], given[1].to_ints().at(0), dct_method)};
                   },
                   {pixels, jpeg_quality}, {{DType::uint8, image.shape()}})[0];
  return convert_image_dtype(stored, image.dtype(), true);
}

Tensor random_jpeg_quality(const Tensor& image, int64_t min_jpeg_quality, int64_t max_jpeg_quality,
                           std::optional<int64_t> seed) {
  TIDEMARK_HERE;
  check_qualities(min_jpeg_quality, max_jpeg_quality);
  return adjust_jpeg_quality(
      image, random::uniform_int({}, min_jpeg_quality, max_jpeg_quality, DType::int32, seed));
}

Tensor stateless_random_jpeg_quality(const Tensor& image, int64_t min_jpeg_quality,
                                     int64_t max_jpeg_quality, random::Seed seed) {
  TIDEMARK_HERE;
  check_qualities(min_jpeg_quality, max_jpeg_quality);
  return adjust_jpeg_quality(
      image, random::stateless_uniform_int({}, seed, min_jpeg_quality, max_jpeg_quality));
}

}  // namespace tidemark::image
