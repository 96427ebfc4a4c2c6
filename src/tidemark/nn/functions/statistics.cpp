// Losses and statistics of tf.nn that are more than a line.
#include <tidemark/call.h>
#include <tidemark/nn_functions.h>

#include "tidemark/nn/building.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::nn {

Tensor weighted_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits,
                                          const Tensor& pos_weight) {
  TIDEMARK_HERE;
  const Tensor one = number(1, logits), wanted = cast(labels, logits.dtype());
  const Tensor weight = (cast(pos_weight, logits.dtype()) - one) * wanted + one;
  return (one - wanted) * logits + weight * (log1p(exp(-abs(logits))) + relu(-logits));
}

Tensor log_poisson_loss(const Tensor& targets, const Tensor& log_input, bool compute_full_loss) {
  TIDEMARK_HERE;
  const Tensor wanted = cast(targets, log_input.dtype());
  const Tensor loss = exp(log_input) - log_input * wanted;
  if (!compute_full_loss) return loss;
  const Tensor one = number(1, wanted), safe = maximum(wanted, one);
  constexpr double kTwoPi = 6.283185307179586;
  const Tensor stirling =
      safe * log(safe) - safe + number(0.5, safe) * log(safe * number(kTwoPi, safe));
  return loss + select(greater(wanted, one), stirling, zeros_like(wanted));
}

Tensor compute_average_loss(const Tensor& per_example_loss, const AverageLossOptions& options) {
  TIDEMARK_HERE;
  check_rank("compute_average_loss", per_example_loss, 1);
  Tensor loss = per_example_loss;
  if (options.sample_weight) {
    Tensor weights = cast(options.sample_weight, loss.dtype());
    while (weights.rank() > 0 && weights.rank() < loss.rank()) weights = expand_dims(weights, -1);
    loss = loss * weights;
  }
  const Tensor size =
      options.global_batch_size >= 0 ? Tensor(options.global_batch_size) : first_size(loss);
  return sum(loss) / cast(size, loss.dtype());
}

Tensor scale_regularization_loss(const Tensor& regularization_loss) {
  TIDEMARK_HERE;
  return sum(regularization_loss);
}

Tensor local_response_normalization(const Tensor& input, const LocalResponseOptions& options) {
  TIDEMARK_HERE;
  const int64_t radius = options.depth_radius;
  const int64_t channels = known_size("local_response_normalization", input, -1);
  const Tensor wide = padded(square(input), -1, radius, radius);
  Tensor total;
  for (int64_t shift = 0; shift <= 2 * radius; ++shift) {
    const Tensor neighbours = part(wide, -1, shift, channels);
    total = total ? total + neighbours : neighbours;
  }
  const Tensor scale = total * number(options.alpha, input) + number(options.bias, input);
  return input / pow(scale, number(options.beta, input));
}

Tensor lrn(const Tensor& input, const LocalResponseOptions& options) {
  TIDEMARK_HERE;
  return local_response_normalization(input, options);
}

SufficientStatistics sufficient_statistics(const Tensor& x, const Ints& axes, const Tensor& shift,
                                           bool keepdims) {
  TIDEMARK_HERE;
  Tensor count = Tensor(int32_t{1});
  for (const int64_t axis : axes) count = count * size_at(x, normalize_axis(axis, x.rank()));
  const Tensor moved = shift ? x - shift : x;
  return {cast(count, x.dtype()), sum(moved, axes, keepdims), sum(square(moved), axes, keepdims),
          shift};
}

std::pair<Tensor, Tensor> normalize_moments(const Tensor& counts, const Tensor& mean_ss,
                                            const Tensor& variance_ss, const Tensor& shift) {
  TIDEMARK_HERE;
  const Tensor centre = mean_ss / counts;
  return {shift ? centre + shift : centre, variance_ss / counts - square(centre)};
}

std::pair<Tensor, Tensor> weighted_moments(const Tensor& x, const Ints& axes,
                                           const Tensor& frequency_weights, bool keepdims) {
  TIDEMARK_HERE;
  const Tensor wide = at_least_float32(x);
  const Tensor weights = cast(frequency_weights, wide.dtype()) + zeros_like(wide);
  const Tensor total = sum(weights, axes, true);
  Tensor centre = sum(weights * wide, axes, true) / total;
  Tensor variance = sum(weights * squared_difference(wide, centre), axes, true) / total;
  if (!keepdims) {
    centre = squeeze(centre, axes);
    variance = squeeze(variance, axes);
  }
  return {cast(centre, x.dtype()), cast(variance, x.dtype())};
}

}  // namespace tidemark::nn
