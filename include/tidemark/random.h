// Random numbers. Counter-based: the same seed gives the same numbers, on any number of threads.
//
//   td::random::set_seed(42);
//   auto x = td::random::normal({1000, 1000});            // mean 0, deviation 1, float32
//   auto w = td::random::truncated_normal({256, 10}, 0, 0.05);
//   auto i = td::random::uniform_int({8}, 0, 10);         // int32 in [0, 10)
//   auto y = td::random::stateless_normal({3}, {1, 2});   // a pure function of the seed (1, 2)
//   auto own = td::random::Generator::from_seed(7);       // a stream of one's own
//   auto z = own.normal({3});
#pragma once

#include <tidemark/tensor.h>

#include <memory>
#include <optional>
#include <vector>

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
struct TruncatedOptions {
  Tensor means = {}, stddevs = {}, minvals = {}, maxvals = {};  // none: 0, 1, -2 and 2
};
/// Normal numbers between bounds; all of these broadcast to the shape.
TIDEMARK_API Tensor stateless_parameterized_truncated_normal(const Shape& shape, Seed seed,
                                                             const TruncatedOptions& options = {});
/// Seeds that depend on one, as rows; and a seed that depends on one and a number.
TIDEMARK_API Tensor split(Seed seed, int64_t num = 2);
TIDEMARK_API Seed fold_in(Seed seed, int64_t data);

/// A stream of numbers with a state of its own, [counter, counter, key]: each draw advances it, so
/// that the n-th draw is always the same. A handle; copies share the stream. In a traced function
/// every run draws others.
class TIDEMARK_API Generator {
 public:
  static Generator from_seed(int64_t seed);
  static Generator from_non_deterministic_state();
  /// Goes on where one with this state stood.
  static Generator from_state(const Tensor& state);

  Tensor normal(const Shape& shape, double mean = 0, double stddev = 1,
                DType dtype = DType::float32) const;
  Tensor truncated_normal(const Shape& shape, double mean = 0, double stddev = 1,
                          DType dtype = DType::float32) const;
  Tensor uniform(const Shape& shape, double minval = 0, double maxval = 1,
                 DType dtype = DType::float32) const;
  Tensor uniform_int(const Shape& shape, int64_t minval, int64_t maxval,
                     DType dtype = DType::int32) const;
  Tensor uniform_full_int(const Shape& shape, DType dtype = DType::uint64) const;
  /// Seeds for stateless draws, a column each, [2, count].
  Tensor make_seeds(int64_t count = 1) const;
  /// Streams that have nothing to do with each other or with this one.
  std::vector<Generator> split(int64_t count = 1) const;

  /// int64 [3].
  Tensor state() const;
  void reset(const Tensor& state) const;
  void reset_from_seed(int64_t seed) const;
  /// Advances as so many draws do.
  void skip(int64_t delta) const;

 private:
  struct State;
  explicit Generator(std::shared_ptr<State> state) : state_(std::move(state)) {}
  Tensor next_seed() const;

  std::shared_ptr<State> state_;
};

/// The state that a seed stands for.
TIDEMARK_API Tensor create_rng_state(int64_t seed);
/// The generator of the program, made on first use; and another one in its place.
TIDEMARK_API Generator get_global_generator();
TIDEMARK_API void set_global_generator(const Generator& generator);

}  // namespace tidemark::random
