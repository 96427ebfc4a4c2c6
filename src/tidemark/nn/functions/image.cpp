#include <tidemark/call.h>
#include <tidemark/image.h>
#include <tidemark/ops.h>
#include <tidemark/random.h>

#include "tidemark/nn/building.h"

namespace tidemark::image {

namespace {

/// A batch of pictures, and a picture as a batch of one.
template <class Function>
Tensor as_batch(std::string_view name, const Tensor& images, const Function& function) {
  if (images.shape().has_rank() && images.rank() != 3 && images.rank() != 4) {
    fail<InvalidArgumentError>("[", name,
                               "] pictures are [height, width, channels], or a batch of ",
                               "them. Received shape: ", images.shape());
  }
  if (images.rank() == 4) return function(images);
  return squeeze(function(expand_dims(images, 0)), Ints{0});
}

Tensor mirrored(const Tensor& image, std::string_view name, int64_t axis_from_end) {
  if (!image.shape().has_rank() || image.rank() < 3) {
    fail<InvalidArgumentError>("[", name,
                               "] pictures are [height, width, channels], or a batch of ",
                               "them. Received shape: ", image.shape());
  }
  return reverse(image, Ints{image.rank() - axis_from_end});
}

}  // namespace

Tensor decode_image(const Tensor& contents, const DecodeOptions& options) {
  TIDEMARK_HERE;
  return decode_image_file(contents, {.channels = options.channels, .dtype = options.dtype});
}

Tensor decode_png(const Tensor& contents, const DecodeOptions& options) {
  TIDEMARK_HERE;
  return decode_image(contents, options);
}

Tensor decode_jpeg(const Tensor& contents, const DecodeOptions& options) {
  TIDEMARK_HERE;
  return decode_image(contents, options);
}

Tensor resize(const Tensor& images, const Ints& size, const ResizeOptions& options) {
  TIDEMARK_HERE;
  if (size.size() != 2 || size[0] < 1 || size[1] < 1) {
    fail<InvalidArgumentError>("[resize] a size is a height and a width, both positive. Received: ",
                               Shape(size));
  }
  const Tensor given = images.dtype() == DType::float32 || images.dtype() == DType::float64
                           ? images
                           : cast(images, DType::float32);
  return as_batch("resize", given, [&](const Tensor& batch) {
    return resize_images(batch, Tensor::of(std::span<const int64_t>(size), {2}),
                         {.method = options.method, .antialias = options.antialias});
  });
}

Tensor flip_left_right(const Tensor& image) {
  TIDEMARK_HERE;
  return mirrored(image, "flip_left_right", 2);
}

Tensor flip_up_down(const Tensor& image) {
  TIDEMARK_HERE;
  return mirrored(image, "flip_up_down", 3);
}

Tensor random_flip_left_right(const Tensor& image) {
  TIDEMARK_HERE;
  return select(less(random::uniform({}), 0.5f), mirrored(image, "random_flip_left_right", 2),
                image);
}

}  // namespace tidemark::image
