// Initial values of weights, drawn as Keras draws them.

#include <tidemark/activations.h>
#include <tidemark/call.h>
#include <tidemark/create.h>
#include <tidemark/ops.h>
#include <tidemark/random.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tidemark::nn {

namespace {

/// How many inputs each output sums over, and how many outputs each input goes to.
struct Fans {
  double in = 1, out = 1;
  explicit Fans(const Shape& shape) {
    if (shape.rank() == 0) return;
    if (shape.rank() == 1) {
      in = out = static_cast<double>(shape[0]);
      return;
    }
    double window = 1;
    for (int i = 0; i < shape.rank() - 2; ++i) window *= static_cast<double>(shape[i]);
    in = window * static_cast<double>(shape.dim(-2));
    out = window * static_cast<double>(shape.dim(-1));
  }
  double mean() const { return (in + out) / 2; }
};

Tensor uniform_of(const Shape& shape, double variance) {
  const double limit = std::sqrt(3 * variance);
  return random::uniform(shape, -limit, limit);
}

Tensor normal_of(const Shape& shape, double variance) {
  constexpr double kOfTruncated = 0.87962566103423978;  // the deviation of what is cut at two
  return random::truncated_normal(shape, 0, std::sqrt(variance) / kOfTruncated);
}

/// Rows or columns that are orthogonal to one another, whichever are fewer.
Tensor orthogonal(const Shape& shape) {
  if (shape.rank() < 2) {
    fail<InvalidArgumentError>(
        "[orthogonal] weights of at least 2 dimensions can be orthogonal. Received shape: ", shape);
  }
  const int64_t columns = shape.dim(-1),
                rows = shape.num_elements() / std::max<int64_t>(columns, 1);
  const std::vector<Tensor> factors =
      qr(random::normal({std::max(rows, columns), std::min(rows, columns)}));
  // The signs make the draw uniform over all such matrices.
  const Tensor q = factors[0] * sign(diag_part(factors[1]));
  return (rows < columns ? transpose(q) : q).reshaped(shape);
}

Tensor identity_matrix(const Shape& shape) {
  if (shape.rank() != 2) {
    fail<InvalidArgumentError>("[identity] a matrix can be one. Received shape: ", shape);
  }
  const Tensor row = expand_dims(arange(static_cast<int32_t>(shape[0])), 1);
  return cast(equal(row, arange(static_cast<int32_t>(shape[1]))), DType::float32);
}

using Draw = Tensor (*)(const Shape&);
double least_one(double x) { return std::max(1.0, x); }

/// Keras's names.
constexpr std::pair<std::string_view, Draw> kInitializers[] = {
    {"zeros", [](const Shape& s) { return zeros(s); }},
    {"ones", [](const Shape& s) { return ones(s); }},
    {"glorot_uniform", [](const Shape& s) { return uniform_of(s, 1 / least_one(Fans(s).mean())); }},
    {"glorot_normal", [](const Shape& s) { return normal_of(s, 1 / least_one(Fans(s).mean())); }},
    {"he_uniform", [](const Shape& s) { return uniform_of(s, 2 / least_one(Fans(s).in)); }},
    {"he_normal", [](const Shape& s) { return normal_of(s, 2 / least_one(Fans(s).in)); }},
    {"lecun_uniform", [](const Shape& s) { return uniform_of(s, 1 / least_one(Fans(s).in)); }},
    {"lecun_normal", [](const Shape& s) { return normal_of(s, 1 / least_one(Fans(s).in)); }},
    {"uniform", [](const Shape& s) { return random::uniform(s, -0.05, 0.05); }},
    {"random_uniform", [](const Shape& s) { return random::uniform(s, -0.05, 0.05); }},
    {"normal", [](const Shape& s) { return random::normal(s, 0, 0.05); }},
    {"random_normal", [](const Shape& s) { return random::normal(s, 0, 0.05); }},
    {"truncated_normal", [](const Shape& s) { return random::truncated_normal(s, 0, 0.05); }},
    {"orthogonal", orthogonal},
    {"identity", identity_matrix},
};

}  // namespace

Initializer::Initializer(const std::string& name) {
  std::string known;
  for (const auto& [other, draw] : kInitializers) {
    if (other == name) {
      function_ = draw;
      return;
    }
    known += (known.empty() ? "" : ", ") + std::string(other);
  }
  fail<InvalidArgumentError>("[initializer] there is none called \"", name,
                             "\"; there are: ", known, "; or give a function of a shape");
}

Initializer constant(double value) {
  return [value](const Shape& shape) { return full(shape, Tensor(static_cast<float>(value))); };
}

}  // namespace tidemark::nn
