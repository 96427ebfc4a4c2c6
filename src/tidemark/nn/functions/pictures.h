// What functions of pictures take: [height, width, channels], or a batch of them.
#pragma once

#include <tidemark/error.h>
#include <tidemark/ops.h>

#include <string_view>

namespace tidemark::image {

inline void check_pictures(std::string_view name, const Tensor& images) {
  if (images.shape().has_rank() && (images.rank() == 3 || images.rank() == 4)) return;
  fail("[", name, "] pictures are [height, width, channels], or a batch of them. Received shape: ",
       images.shape());
}

/// A part of that size at a place that numbers drawn from all integers say.
Tensor cropped(std::string_view name, const Tensor& value, const Ints& size, const Tensor& drawn);

/// The function of a batch, on a batch of pictures, or on one as a batch.
template <class Function>
Tensor as_batch(std::string_view name, const Tensor& images, const Function& function) {
  check_pictures(name, images);
  if (images.rank() == 4) return function(images);
  return squeeze(function(expand_dims(images, 0)), Ints{0});
}

}  // namespace tidemark::image
