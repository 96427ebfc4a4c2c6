// Classes drawn as negative examples.
#include <tidemark/call.h>
#include <tidemark/composed.h>
#include <tidemark/ops.h>
#include <tidemark/random.h>
#include <tidemark/sampling.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tidemark/nn/building.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::random {

namespace {

Tensor real(double value) { return Tensor(value); }

/// Classes 0, 1, … with probabilities, all numbers as float64.
class Distribution {
 public:
  explicit Distribution(int64_t size) : size_(size) {}
  virtual ~Distribution() = default;
  int64_t size() const { return size_; }
  virtual Tensor probability(const Tensor& classes) const = 0;
  /// The class to which a number that is even in [0, 1) belongs.
  virtual Tensor from_even(const Tensor& even) const = 0;
  virtual double probability_of(int64_t one) const = 0;

 protected:
  Tensor within(const Tensor& classes) const {
    return clip_by_value(classes, Tensor(int64_t{0}), Tensor(size_ - 1));
  }

 private:
  int64_t size_;
};

class Uniform final : public Distribution {
 public:
  using Distribution::Distribution;
  Tensor probability(const Tensor& classes) const override {
    return zeros_like(classes, DType::float64) + real(probability_of(0));
  }
  Tensor from_even(const Tensor& even) const override {
    return within(cast(floor(even * real(static_cast<double>(size()))), DType::int64));
  }
  double probability_of(int64_t) const override { return 1 / static_cast<double>(size()); }
};

/// P(class) = log(1 + 1 / (class + 1)) / log(size + 1).
class LogUniform final : public Distribution {
 public:
  explicit LogUniform(int64_t size)
      : Distribution(size), log_size_(std::log1p(static_cast<double>(size))) {}
  Tensor probability(const Tensor& classes) const override {
    const Tensor above = real(1) / (cast(classes, DType::float64) + real(1));
    return log1p(above) * real(1 / log_size_);
  }
  Tensor from_even(const Tensor& even) const override {
    const Tensor place = cast(floor(exp(even * real(log_size_))), DType::int64);
    return within(place - Tensor(int64_t{1}));
  }
  double probability_of(int64_t one) const override {
    return std::log1p(1 / (static_cast<double>(one) + 1)) / log_size_;
  }

 private:
  double log_size_;
};

class Unigram final : public Distribution {
 public:
  explicit Unigram(std::vector<double> weights)
      : Distribution(static_cast<int64_t>(weights.size())), parts_(std::move(weights)) {
    const double total = std::accumulate(parts_.begin(), parts_.end(), 0.0);
    if (!(total > 0) || std::ranges::any_of(parts_, [](double w) { return !(w >= 0); })) {
      fail("[candidate_sampler] unigrams must not be negative, and not all 0");
    }
    for (double& part : parts_) part /= total;
  }
  Tensor probability(const Tensor& classes) const override {
    return gather(all(), classes, {.axis = 0});
  }
  Tensor from_even(const Tensor& even) const override {
    return within(searchsorted(cumsum(all()), even, {.side = "right", .out_type = DType::int64}));
  }
  double probability_of(int64_t one) const override { return parts_[static_cast<size_t>(one)]; }

 private:
  Tensor all() const { return Tensor::of(std::span<const double>(parts_), {size()}); }

  std::vector<double> parts_;
};

/// How many draws are expected until so many different classes have come.
double tries_for(const Distribution& classes, int64_t count) {
  std::vector<double> log_miss;
  for (int64_t i = 0; i < classes.size(); ++i) {
    log_miss.push_back(std::log1p(-classes.probability_of(i)));
  }
  const auto different = [&](double tries) {
    double out = 0;
    for (const double one : log_miss) out -= std::expm1(one * tries);
    return out;
  };
  const auto wanted = static_cast<double>(count);
  double low = wanted, high = 2 * wanted;
  while (different(high) < wanted && high < 1e12) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (different(middle) < wanted ? low : high) = middle;
  }
  return high;
}

/// How often each class is expected among those sampled by `tries` draws, or by as many as it takes
/// until all are different.
Tensor expected(const Distribution& of, const Tensor& classes, double tries, bool unique) {
  const Tensor p = of.probability(classes), draws = real(tries);
  return cast(unique ? -expm1(log1p(-p) * draws) : p * draws, DType::float32);
}

Tensor sampled(const Distribution& of, int64_t count, bool unique, std::optional<int64_t> seed) {
  if (!unique) return of.from_even(uniform({count}, 0, 1, DType::float64, seed));
  // The largest of the log probabilities plus Gumbel noise: as drawing until all are different.
  const Tensor even = uniform({of.size()}, 1e-300, 1, DType::float64, seed);
  const Tensor classes = nn::steps(of.size(), DType::int64);
  const Tensor scores = log(of.probability(classes)) - log(-log(even));
  return cast(top_k(scores, Tensor(static_cast<int32_t>(count)))[1], DType::int64);
}

void check_true(const char* name, const Tensor& true_classes, int64_t num_true) {
  const Shape& shape = true_classes.shape();
  if (!shape.has_rank() || (shape.rank() == 2 && shape[1] == num_true)) return;
  fail("[", name, "] true_classes must have shape [batch, ", num_true, "], got ", shape);
}

Candidates sample(const char* name, const Distribution& of, const Tensor& true_classes,
                  int64_t num_true, int64_t num_sampled, bool unique, std::optional<int64_t> seed) {
  check_true(name, true_classes, num_true);
  if (num_sampled < 1 || (unique && num_sampled > of.size())) {
    fail("[", name, "] num_sampled must be from 1 to the number of classes, ", of.size(), ", got ",
         num_sampled);
  }
  const double tries = unique ? tries_for(of, num_sampled) : static_cast<double>(num_sampled);
  const Tensor drawn = sampled(of, num_sampled, unique, seed);
  return {drawn, expected(of, cast(true_classes, DType::int64), tries, unique),
          expected(of, drawn, tries, unique)};
}

}  // namespace

Candidates uniform_candidate_sampler(const Tensor& true_classes, int64_t num_true,
                                     int64_t num_sampled, bool unique, int64_t range_max,
                                     std::optional<int64_t> seed) {
  TIDEMARK_HERE;
  constexpr const char* kName = "uniform_candidate_sampler";
  nn::check_positive(kName, "range_max", range_max);
  return sample(kName, Uniform(range_max), true_classes, num_true, num_sampled, unique, seed);
}

Candidates log_uniform_candidate_sampler(const Tensor& true_classes, int64_t num_true,
                                         int64_t num_sampled, bool unique, int64_t range_max,
                                         std::optional<int64_t> seed) {
  TIDEMARK_HERE;
  constexpr const char* kName = "log_uniform_candidate_sampler";
  nn::check_positive(kName, "range_max", range_max);
  return sample(kName, LogUniform(range_max), true_classes, num_true, num_sampled, unique, seed);
}

Candidates fixed_unigram_candidate_sampler(const Tensor& true_classes, int64_t num_true,
                                           int64_t num_sampled, bool unique, int64_t range_max,
                                           const UnigramOptions& options) {
  TIDEMARK_HERE;
  constexpr const char* kName = "fixed_unigram_candidate_sampler";
  std::vector<double> weights(static_cast<size_t>(std::max<int64_t>(options.num_reserved_ids, 0)));
  for (const double w : options.unigrams) weights.push_back(std::pow(w, options.distortion));
  if (static_cast<int64_t>(weights.size()) != range_max) {
    fail("[", kName, "] there must be ", range_max, " frequencies, the reserved ids counted, got ",
         weights.size());
  }
  return sample(kName, Unigram(std::move(weights)), true_classes, num_true, num_sampled, unique,
                options.seed);
}

Candidates all_candidate_sampler(const Tensor& true_classes, int64_t num_true, int64_t num_sampled,
                                 bool /*unique: they always are*/) {
  TIDEMARK_HERE;
  check_true("all_candidate_sampler", true_classes, num_true);
  nn::check_positive("all_candidate_sampler", "num_sampled", num_sampled);
  const Tensor drawn = nn::steps(num_sampled, DType::int64);
  return {drawn, ones_like(true_classes, DType::float32), ones_like(drawn, DType::float32)};
}

}  // namespace tidemark::random
