// The functions of <tidemark/random.h>, over the random ops.

#include <tidemark/call.h>
#include <tidemark/random.h>

#include "tidemark/base/random_state.h"
#include "tidemark/memory/context.h"

namespace tidemark::random {

namespace {

Tensor dims(const Shape& shape) { return Tensor::of(shape.dims(), Shape{shape.rank()}); }
Tensor pair(Seed seed) { return Tensor::of<int64_t>({seed.first, seed.second}); }
Tensor integer(int64_t value, DType dtype) {
  return dtype == DType::int64 ? Tensor(value) : call("cast", {Tensor(value)}, {{"dtype", dtype}});
}

}  // namespace

void set_seed(int64_t seed) { random_state::set_seed(seed); }

Tensor normal(const Shape& shape, double mean, double stddev, DType dtype,
              std::optional<int64_t> seed) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  return call("random_normal", {dims(shape)},
              {{"mean", mean}, {"stddev", stddev}, {"dtype", dtype}, {"seed", seed}});
}

Tensor truncated_normal(const Shape& shape, double mean, double stddev, DType dtype,
                        std::optional<int64_t> seed) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  return call("random_truncated_normal", {dims(shape)},
              {{"mean", mean}, {"stddev", stddev}, {"dtype", dtype}, {"seed", seed}});
}

Tensor uniform(const Shape& shape, double minval, double maxval, DType dtype,
               std::optional<int64_t> seed) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  return call("random_uniform", {dims(shape)},
              {{"minval", minval}, {"maxval", maxval}, {"dtype", dtype}, {"seed", seed}});
}

Tensor uniform_int(const Shape& shape, int64_t minval, int64_t maxval, DType dtype,
                   std::optional<int64_t> seed) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  return call("random_uniform_int", {dims(shape), integer(minval, dtype), integer(maxval, dtype)},
              {{"seed", seed}});
}

Tensor shuffle(const Tensor& value, std::optional<int64_t> seed) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  return call("random_shuffle", {value}, {{"seed", seed}});
}

Tensor stateless_normal(const Shape& shape, Seed seed, double mean, double stddev, DType dtype) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  return call("stateless_random_normal", {dims(shape), pair(seed)},
              {{"mean", mean}, {"stddev", stddev}, {"dtype", dtype}});
}

Tensor stateless_truncated_normal(const Shape& shape, Seed seed, double mean, double stddev,
                                  DType dtype) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  return call("stateless_random_truncated_normal", {dims(shape), pair(seed)},
              {{"mean", mean}, {"stddev", stddev}, {"dtype", dtype}});
}

Tensor stateless_uniform(const Shape& shape, Seed seed, double minval, double maxval, DType dtype) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  return call("stateless_random_uniform", {dims(shape), pair(seed)},
              {{"minval", minval}, {"maxval", maxval}, {"dtype", dtype}});
}

Tensor stateless_uniform_int(const Shape& shape, Seed seed, int64_t minval, int64_t maxval,
                             DType dtype) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  return call("stateless_random_uniform_int",
              {dims(shape), pair(seed), integer(minval, dtype), integer(maxval, dtype)});
}

Tensor stateless_shuffle(const Tensor& value, Seed seed) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  return call("stateless_random_shuffle", {value, pair(seed)});
}

}  // namespace tidemark::random
