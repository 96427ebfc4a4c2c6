// Changes of pictures by chance that depends on a seed alone.
#include <tidemark/call.h>
#include <tidemark/image.h>

#include <limits>

#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/pictures.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::image {

namespace {

using random::Seed;
using random::stateless_uniform;

Tensor drawn_delta(std::string_view name, double max_delta, double most, Seed seed) {
  if (max_delta < 0 || max_delta > most) {
    fail("[", name, "] `max_delta` is in [0, ", most, "]. Received: ", max_delta);
  }
  return stateless_uniform({}, seed, -max_delta, max_delta);
}

Tensor drawn_factor(std::string_view name, double lower, double upper, Seed seed) {
  if (lower < 0 || upper <= lower) {
    fail("[", name, "] 0 <= lower < upper. Received: ", lower, " and ", upper);
  }
  return stateless_uniform({}, seed, lower, upper);
}

/// Each picture by a draw of its own.
Tensor mirrored_sometimes(std::string_view name, const Tensor& image, int axis, Seed seed) {
  check_pictures(name, image);
  const Tensor other = reverse(image, Ints{axis});
  if (image.rank() == 3) return select(less(stateless_uniform({}, seed), 0.5f), other, image);
  const int64_t count = nn::known_size(name, image, 0);
  const Tensor draws = reshape(stateless_uniform({count}, seed), nn::vector_of({-1, 1, 1, 1}));
  return select(less(draws, 0.5f), other, image);
}

constexpr double kAny = std::numeric_limits<double>::infinity();

}  // namespace

Tensor stateless_random_brightness(const Tensor& image, double max_delta, Seed seed) {
  TIDEMARK_HERE;
  return adjust_brightness(image,
                           drawn_delta("stateless_random_brightness", max_delta, kAny, seed));
}

Tensor stateless_random_hue(const Tensor& image, double max_delta, Seed seed) {
  TIDEMARK_HERE;
  return adjust_hue(image, drawn_delta("stateless_random_hue", max_delta, 0.5, seed));
}

Tensor stateless_random_contrast(const Tensor& image, double lower, double upper, Seed seed) {
  TIDEMARK_HERE;
  return adjust_contrast(image, drawn_factor("stateless_random_contrast", lower, upper, seed));
}

Tensor stateless_random_saturation(const Tensor& image, double lower, double upper, Seed seed) {
  TIDEMARK_HERE;
  return adjust_saturation(image, drawn_factor("stateless_random_saturation", lower, upper, seed));
}

Tensor stateless_random_flip_left_right(const Tensor& image, Seed seed) {
  TIDEMARK_HERE;
  return mirrored_sometimes("stateless_random_flip_left_right", image, -2, seed);
}

Tensor stateless_random_flip_up_down(const Tensor& image, Seed seed) {
  TIDEMARK_HERE;
  return mirrored_sometimes("stateless_random_flip_up_down", image, -3, seed);
}

Tensor stateless_random_crop(const Tensor& value, const Ints& size, Seed seed) {
  TIDEMARK_HERE;
  const Tensor drawn =
      random::stateless_uniform_int({value.rank()}, seed, 0, std::numeric_limits<int32_t>::max());
  return cropped("stateless_random_crop", value, size, drawn);
}

}  // namespace tidemark::image
