#include <tidemark/call.h>
#include <tidemark/losses.h>
#include <tidemark/nn_functions.h>

#include <cmath>

#include "tidemark/nn/building.h"
#include "tidemark/nn/same_rank.h"
#include "tidemark/nn/scalars.h"

namespace tidemark::losses {

namespace {

using nn::number;
using nn::Pair;
using nn::same_kind;

constexpr float kEpsilon = 1e-7f;  // Keras's

Tensor row_mean(const Tensor& x) { return mean(x, Ints{-1}); }
Tensor row_sum(const Tensor& x) { return sum(x, Ints{-1}); }

/// -1 where all labels are 0 or 1 and this one is 0.
Tensor signed_labels(const Tensor& y) {
  const Tensor is_binary = all(logical_or(equal(y, number(0, y)), equal(y, number(1, y))));
  return select(is_binary, number(2, y) * y - number(1, y), y);
}

Tensor clipped(const Tensor& y, double least, double most) {
  return clip_by_value(y, number(least, y), number(most, y));
}

}  // namespace

Tensor mean_squared_error(const Tensor& y_true, const Tensor& y_pred) {
  TIDEMARK_HERE;
  const Pair y = same_kind(y_true, y_pred);
  return row_mean(square(y.y_true - y.y_pred));
}

Tensor mean_absolute_error(const Tensor& y_true, const Tensor& y_pred) {
  TIDEMARK_HERE;
  const Pair y = same_kind(y_true, y_pred);
  return row_mean(abs(y.y_true - y.y_pred));
}

Tensor mean_absolute_percentage_error(const Tensor& y_true, const Tensor& y_pred) {
  TIDEMARK_HERE;
  const Pair y = same_kind(y_true, y_pred);
  const Tensor least = maximum(abs(y.y_true), number(kEpsilon, y.y_true));
  return row_mean(abs((y.y_true - y.y_pred) / least)) * number(100, y.y_pred);
}

Tensor mean_squared_logarithmic_error(const Tensor& y_true, const Tensor& y_pred) {
  TIDEMARK_HERE;
  const Pair y = same_kind(y_true, y_pred);
  const auto logarithm = [](const Tensor& x) {
    return log(maximum(x, number(kEpsilon, x)) + number(1, x));
  };
  return row_mean(square(logarithm(y.y_pred) - logarithm(y.y_true)));
}

Tensor huber(const Tensor& y_true, const Tensor& y_pred, double delta) {
  TIDEMARK_HERE;
  const Pair y = same_kind(y_true, y_pred);
  const Tensor error = abs(y.y_pred - y.y_true), limit = number(delta, error);
  return row_mean(select(less_equal(error, limit), square(error) * number(0.5, error),
                         limit * error - number(0.5 * delta * delta, error)));
}

Tensor log_cosh(const Tensor& y_true, const Tensor& y_pred) {
  TIDEMARK_HERE;
  const Pair y = same_kind(y_true, y_pred);
  const Tensor x = y.y_pred - y.y_true;
  return row_mean(x + softplus(x * number(-2, x)) - number(std::log(2.0), x));
}

Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred) {
  TIDEMARK_HERE;
  const Pair y = same_kind(y_true, y_pred);
  return -row_sum(nn::l2_normalize(y.y_true, Ints{-1}) * nn::l2_normalize(y.y_pred, Ints{-1}));
}

Tensor kl_divergence(const Tensor& y_true, const Tensor& y_pred) {
  TIDEMARK_HERE;
  const Tensor t = clipped(cast(y_true, y_pred.dtype()), kEpsilon, 1);
  return row_sum(t * log(t / clipped(y_pred, kEpsilon, 1)));
}

Tensor poisson(const Tensor& y_true, const Tensor& y_pred) {
  TIDEMARK_HERE;
  const Tensor t = cast(y_true, y_pred.dtype());
  return row_mean(y_pred - t * log(y_pred + number(kEpsilon, y_pred)));
}

Tensor hinge(const Tensor& y_true, const Tensor& y_pred) {
  TIDEMARK_HERE;
  const Tensor t = signed_labels(cast(y_true, y_pred.dtype()));
  return row_mean(relu(number(1, y_pred) - t * y_pred));
}

Tensor squared_hinge(const Tensor& y_true, const Tensor& y_pred) {
  TIDEMARK_HERE;
  const Tensor t = signed_labels(cast(y_true, y_pred.dtype()));
  return row_mean(square(relu(number(1, y_pred) - t * y_pred)));
}

Tensor categorical_hinge(const Tensor& y_true, const Tensor& y_pred) {
  TIDEMARK_HERE;
  const Tensor t = cast(y_true, y_pred.dtype());
  const Tensor right = row_sum(t * y_pred);
  const Tensor wrong = max((number(1, t) - t) * y_pred, Ints{-1});
  return relu(wrong - right + number(1, y_pred));
}

Tensor binary_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                           const CrossentropyOptions& options) {
  TIDEMARK_HERE;
  Tensor t = cast(y_true, y_pred.dtype());
  const double smoothing = options.label_smoothing;
  if (smoothing != 0) t = t * number(1 - smoothing, t) + number(smoothing / 2, t);
  if (options.from_logits) return row_mean(nn::sigmoid_cross_entropy(t, y_pred));
  const Tensor p = clipped(y_pred, kEpsilon, 1 - kEpsilon), one = number(1, p);
  return -row_mean(t * log(p) + (one - t) * log(one - p));
}

Tensor categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                const CrossentropyOptions& options) {
  TIDEMARK_HERE;
  Tensor t = cast(y_true, y_pred.dtype());
  if (options.label_smoothing != 0) {
    const auto classes = static_cast<double>(nn::last_size("categorical_crossentropy", y_pred));
    t = t * number(1 - options.label_smoothing, t) + number(options.label_smoothing / classes, t);
  }
  if (options.from_logits) return nn::softmax_cross_entropy(t, y_pred);
  const Tensor p = y_pred / sum(y_pred, Ints{-1}, true);
  return -row_sum(t * log(clipped(p, kEpsilon, 1 - kEpsilon)));
}

Tensor sparse_categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                       const SparseCrossentropyOptions& options) {
  TIDEMARK_HERE;
  const bool has_column = y_true.shape().has_rank() && y_true.rank() == y_pred.rank() &&
                          y_true.rank() > 0 && y_true.dim(-1) == 1;
  const Tensor labels = has_column ? squeeze(y_true, Ints{-1}) : y_true;
  if (options.from_logits) return nn::sparse_softmax_cross_entropy(labels, y_pred);
  return nn::sparse_softmax_cross_entropy(labels, log(clipped(y_pred, kEpsilon, 1 - kEpsilon)));
}

Tensor Loss::operator()(const Tensor& y_true, const Tensor& y_pred,
                        const Tensor& sample_weight) const {
  TIDEMARK_HERE;
  const Tensor each = function_(y_true, nn::at_least_float32(y_pred));
  if (!sample_weight) return mean(each);
  const Pair both = nn::same_rank(cast(sample_weight, each.dtype()), each);
  return mean(both.y_pred * both.y_true);
}

}  // namespace tidemark::losses
