#include <tidemark/call.h>
#include <tidemark/nn_functions.h>

#include "tidemark/nn/building.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::nn {

namespace {

Tensor as_index(const Tensor& labels) {
  const bool is_index = labels.dtype() == DType::int32 || labels.dtype() == DType::int64;
  return is_index ? labels : cast(labels, DType::int64);
}

}  // namespace

Tensor sparse_softmax_cross_entropy(const Tensor& labels, const Tensor& logits) {
  TIDEMARK_HERE;
  return tidemark::sparse_softmax_cross_entropy(logits, as_index(labels))[0];
}

Tensor softmax_cross_entropy(const Tensor& labels, const Tensor& logits) {
  TIDEMARK_HERE;
  return tidemark::softmax_cross_entropy(logits, labels)[0];
}

Tensor sigmoid_cross_entropy(const Tensor& labels, const Tensor& logits) {
  TIDEMARK_HERE;
  return relu(logits) - logits * labels + log1p(exp(-abs(logits)));
}

Tensor sparse_softmax_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits) {
  TIDEMARK_HERE;
  return nn::sparse_softmax_cross_entropy(labels, logits);
}

Tensor softmax_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits) {
  TIDEMARK_HERE;
  return nn::softmax_cross_entropy(labels, logits);
}

Tensor sigmoid_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits) {
  TIDEMARK_HERE;
  return sigmoid_cross_entropy(labels, logits);
}

Tensor dropout(const Tensor& x, double rate) {
  TIDEMARK_HERE;
  if (!(rate >= 0 && rate < 1)) {
    fail<InvalidArgumentError>("[dropout] `rate` is in [0, 1). Received: ", rate);
  }
  if (rate == 0) return x;
  const Tensor drawn = call("random_uniform", {sizes_of(x)});
  const Tensor kept = cast(greater_equal(drawn, static_cast<float>(rate)), x.dtype());
  return x * kept * number(1 / (1 - rate), x);
}

std::pair<Tensor, Tensor> moments(const Tensor& x, const Ints& axes, bool keepdims) {
  TIDEMARK_HERE;
  const Tensor wide = at_least_float32(x), centre = mean(wide, axes, true);
  const Tensor variance = mean(square(wide - stop_gradient(centre)), axes, keepdims);
  return {cast(keepdims ? centre : squeeze(centre, axes), x.dtype()), cast(variance, x.dtype())};
}

Tensor batch_normalization(const Tensor& x, const Tensor& mean, const Tensor& variance,
                           const Tensor& offset, const Tensor& scale, double variance_epsilon) {
  TIDEMARK_HERE;
  Tensor by = rsqrt(variance + number(variance_epsilon, variance));
  if (scale) by = std::move(by) * scale;
  return x * by + (offset ? offset - mean * by : -(mean * by));
}

Tensor batch_norm_with_global_normalization(const Tensor& input, const Tensor& mean,
                                            const Tensor& variance, const Tensor& beta,
                                            const Tensor& gamma, double variance_epsilon,
                                            bool scale_after_normalization) {
  TIDEMARK_HERE;
  const Tensor scale = scale_after_normalization ? gamma : Tensor();
  return batch_normalization(input, mean, variance, beta, scale, variance_epsilon);
}

Tensor crelu(const Tensor& features, int64_t axis) {
  TIDEMARK_HERE;
  const Tensor both[] = {features, -features};
  return relu(concat(both, axis));
}

Tensor embedding_lookup(const Tensor& params, const Tensor& ids,
                        const std::optional<double>& max_norm) {
  TIDEMARK_HERE;
  const Tensor rows = gather(params, ids, {.axis = 0});
  if (!max_norm) return rows;
  Ints axes;
  for (int64_t axis = ids.rank(); axis < rows.rank(); ++axis) axes.push_back(axis);
  const Tensor length = sqrt(sum(square(rows), axes, true)), limit = number(*max_norm, rows);
  return rows * limit / maximum(length, limit);
}

Tensor bias_add(const Tensor& value, const Tensor& bias) {
  TIDEMARK_HERE;
  return value + bias;
}

Tensor l2_loss(const Tensor& t) {
  TIDEMARK_HERE;
  return sum(square(t)) * number(0.5, t);
}

}  // namespace tidemark::nn
