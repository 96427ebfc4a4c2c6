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
#include <tidemark/tensor.h>

#include <string>

namespace tidemark::image {

struct DecodeOptions {
  int64_t channels = 0;  // 0: as many as the file has
  DType dtype = DType::uint8;
};
/// The pixels of a PNG, JPEG, BMP or GIF file (of that its first picture).
TIDEMARK_API Tensor decode_image(const Tensor& contents, const DecodeOptions& options = {});
TIDEMARK_API Tensor decode_png(const Tensor& contents, const DecodeOptions& options = {});
TIDEMARK_API Tensor decode_jpeg(const Tensor& contents, const DecodeOptions& options = {});

struct ResizeOptions {
  std::string method = "bilinear";  // "nearest", "bicubic", "area", "lanczos3", …
  bool antialias = false;
};
/// Pictures of the size (height, width), as float32 unless they are float64.
TIDEMARK_API Tensor resize(const Tensor& images, const Ints& size,
                           const ResizeOptions& options = {});

TIDEMARK_API Tensor flip_left_right(const Tensor& image);
TIDEMARK_API Tensor flip_up_down(const Tensor& image);
/// One picture, mirrored every other time; in a function drawn anew in each call.
TIDEMARK_API Tensor random_flip_left_right(const Tensor& image);

}  // namespace tidemark::image

namespace tidemark::io {
using image::decode_image;
using image::decode_jpeg;
using image::decode_png;
}  // namespace tidemark::io
