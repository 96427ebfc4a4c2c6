#include <tidemark/call.h>
#include <tidemark/image.h>
#include <tidemark/ops.h>

#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/pictures.h"

namespace tidemark::image {

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

Tensor decode_bmp(const Tensor& contents, const DecodeOptions& options) {
  TIDEMARK_HERE;
  return decode_image(contents, options);
}

Tensor decode_gif(const Tensor& contents) {
  TIDEMARK_HERE;
  const Tensor frames = decode_image_file(contents, {.expand_animations = true});
  return frames.rank() == 4 ? frames : expand_dims(frames, 0);
}

Tensor is_jpeg(const Tensor& contents) {
  TIDEMARK_HERE;
  const std::string_view start[] = {"\xff\xd8\xff"};
  return equal(string_substr(contents, 0, 3), Tensor::of_strings(start, {}));
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

}  // namespace tidemark::image
