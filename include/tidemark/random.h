// Random numbers. Counter-based: the same seed gives the same numbers, on any number of threads.
//
//   td::random::set_seed(42);
//   auto x = td::random::normal({1000, 1000});            // mean 0, deviation 1, float32
//   auto w = td::random::truncated_normal({256, 10}, 0, 0.05);
//   auto i = td::random::uniform_int({8}, 0, 10);         // int32 in [0, 10)
//   auto y = td::random::stateless_normal({3}, {1, 2});   // a pure function of the seed (1, 2)
#pragma once

#include <tidemark/tensor.h>

#include <optional>

namespace tidemark::random {

/// The two integers of a stateless draw.
struct Seed {
  int64_t first = 0, second = 0;
};

/// All later draws of the process repeat after the same seed.
TIDEMARK_API void set_seed(int64_t seed);

/// Draws from the process's generator. With an op seed they come from a stream of its own.
TIDEMARK_API Tensor normal(const Shape& shape, double mean = 0, double stddev = 1,
                           DType dtype = DType::float32, std::optional<int64_t> seed = {});
/// Within two standard deviations of the mean.
TIDEMARK_API Tensor truncated_normal(const Shape& shape, double mean = 0, double stddev = 1,
                                     DType dtype = DType::float32,
                                     std::optional<int64_t> seed = {});
/// In [minval, maxval).
TIDEMARK_API Tensor uniform(const Shape& shape, double minval = 0, double maxval = 1,
                            DType dtype = DType::float32, std::optional<int64_t> seed = {});
/// In [minval, maxval).
TIDEMARK_API Tensor uniform_int(const Shape& shape, int64_t minval, int64_t maxval,
                                DType dtype = DType::int32, std::optional<int64_t> seed = {});
/// The rows along dimension 0 in random order.
TIDEMARK_API Tensor shuffle(const Tensor& value, std::optional<int64_t> seed = {});

/// Classes drawn with probabilities softmax(logits), a row of samples for each row of logits.
TIDEMARK_API Tensor categorical(const Tensor& logits, int64_t num_samples,
                                DType dtype = DType::int64, std::optional<int64_t> seed = {});
/// `shape` of them for each alpha, divided by beta; or for each mean.
TIDEMARK_API Tensor gamma(const Shape& shape, const Tensor& alpha, const Tensor& beta = {},
                          std::optional<int64_t> seed = {});
TIDEMARK_API Tensor poisson(const Shape& shape, const Tensor& lam, DType dtype = DType::float32,
                            std::optional<int64_t> seed = {});

/// Pure functions of the seed.
TIDEMARK_API Tensor stateless_normal(const Shape& shape, Seed seed, double mean = 0,
                                     double stddev = 1, DType dtype = DType::float32);
TIDEMARK_API Tensor stateless_truncated_normal(const Shape& shape, Seed seed, double mean = 0,
                                               double stddev = 1, DType dtype = DType::float32);
TIDEMARK_API Tensor stateless_uniform(const Shape& shape, Seed seed, double minval = 0,
                                      double maxval = 1, DType dtype = DType::float32);
TIDEMARK_API Tensor stateless_uniform_int(const Shape& shape, Seed seed, int64_t minval,
                                          int64_t maxval, DType dtype = DType::int32);
TIDEMARK_API Tensor stateless_shuffle(const Tensor& value, Seed seed);
TIDEMARK_API Tensor stateless_categorical(const Tensor& logits, int64_t num_samples, Seed seed,
                                          DType dtype = DType::int64);
/// Of the shape, which alpha and beta, the means, or counts and probabilities broadcast to.
TIDEMARK_API Tensor stateless_gamma(const Shape& shape, Seed seed, const Tensor& alpha,
                                    const Tensor& beta = {});
TIDEMARK_API Tensor stateless_poisson(const Shape& shape, Seed seed, const Tensor& lam,
                                      DType dtype = DType::int32);
TIDEMARK_API Tensor stateless_binomial(const Shape& shape, Seed seed, const Tensor& counts,
                                       const Tensor& probs, DType dtype = DType::int32);
/// Seeds that depend on one, as rows; and a seed that depends on one and a number.
TIDEMARK_API Tensor split(Seed seed, int64_t num = 2);
TIDEMARK_API Seed fold_in(Seed seed, int64_t data);

}  // namespace tidemark::random
