// The functions of <tidemark/random.h> for distributions with parameters, and for seeds.

#include <tidemark/call.h>
#include <tidemark/random.h>

#include "tidemark/memory/context.h"

namespace tidemark::random {

namespace {

Tensor dims(const Shape& shape) { return Tensor::of(shape.dims(), Shape{shape.rank()}); }
Tensor pair(Seed seed) { return Tensor::of<int64_t>({seed.first, seed.second}); }

/// The shape, then that of the parameters.
Tensor dims_then(const Shape& shape, const Shape& inner) {
  Shape all = shape;
  for (const int64_t size : inner) all.push_back(size);
  return dims(all);
}

Tensor as_float64(const Tensor& x) { return call("cast", {x}, {{"dtype", DType::float64}}); }

/// As large as what is drawn, unless one number stands for all.
Tensor spread(const Tensor& parameter, const Tensor& sizes) {
  return parameter.rank() == 0 ? parameter : call("broadcast_to", {parameter, sizes});
}

Tensor divided(const Tensor& drawn, const Tensor& beta) {
  return beta ? drawn / call("cast", {beta}, {{"dtype", drawn.dtype()}}) : drawn;
}

/// [rows, samples, classes].
Shape shape_of_draws(const Tensor& logits, int64_t num_samples) {
  if (!logits.shape().is_fully_known() || logits.rank() != 2) {
    fail("[categorical] logits are a matrix of known shape. Received shape: ", logits.shape());
  }
  return {logits.dim(0), num_samples, logits.dim(1)};
}

/// The largest of logits plus Gumbel noise is a class with the right probability.
Tensor largest(const Tensor& logits, const Tensor& uniform, DType dtype) {
  const Tensor noise = -call("log", {-call("log", {uniform})});
  const Tensor wide = call("cast", {logits}, {{"dtype", DType::float32}});
  const Tensor scores = call("expand_dims", {wide}, {{"axis", 1}}) + noise;
  return call("argmax", {scores}, {{"axis", 2}, {"output_type", dtype}});
}
constexpr double kLeast = 1e-20;

}  // namespace

Tensor categorical(const Tensor& logits, int64_t num_samples, DType dtype,
                   std::optional<int64_t> seed) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  const Shape draws = shape_of_draws(logits, num_samples);
  return largest(logits, uniform(draws, kLeast, 1, DType::float32, seed), dtype);
}

Tensor gamma(const Shape& shape, const Tensor& alpha, const Tensor& beta,
             std::optional<int64_t> seed) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  const Shape inner = beta ? broadcast_shapes(alpha.shape(), beta.shape()) : alpha.shape();
  const Tensor sizes = dims_then(shape, inner);
  return divided(call("random_gamma", {sizes, spread(alpha, sizes)}, {{"seed", seed}}), beta);
}

Tensor poisson(const Shape& shape, const Tensor& lam, DType dtype, std::optional<int64_t> seed) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  const Tensor sizes = dims_then(shape, lam.shape());
  return call("random_poisson", {sizes, spread(as_float64(lam), sizes)},
              {{"dtype", dtype}, {"seed", seed}});
}

Tensor stateless_categorical(const Tensor& logits, int64_t num_samples, Seed seed, DType dtype) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  const Shape draws = shape_of_draws(logits, num_samples);
  return largest(logits, stateless_uniform(draws, seed, kLeast, 1), dtype);
}

Tensor stateless_gamma(const Shape& shape, Seed seed, const Tensor& alpha, const Tensor& beta) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  const Tensor sizes = dims(shape);
  return divided(call("stateless_random_gamma", {sizes, pair(seed), spread(alpha, sizes)}), beta);
}

Tensor stateless_poisson(const Shape& shape, Seed seed, const Tensor& lam, DType dtype) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  const Tensor sizes = dims(shape);
  return call("stateless_random_poisson", {sizes, pair(seed), spread(as_float64(lam), sizes)},
              {{"dtype", dtype}});
}

Tensor stateless_binomial(const Shape& shape, Seed seed, const Tensor& counts, const Tensor& probs,
                          DType dtype) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  const Tensor sizes = dims(shape);
  const Tensor trials = spread(as_float64(counts), sizes);
  return call("stateless_random_binomial",
              {sizes, pair(seed), trials, spread(as_float64(probs), sizes)}, {{"dtype", dtype}});
}

Tensor split(Seed seed, int64_t num) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  return call("stateless_random_full_int", {dims({num, 2}), pair(seed)}, {{"dtype", DType::int64}});
}

Seed fold_in(Seed seed, int64_t data) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  const Tensor first =
      call("stateless_random_full_int", {dims({1}), pair(seed)}, {{"dtype", DType::int64}});
  return {first.values<int64_t>()[0], data};
}

}  // namespace tidemark::random
