#include <tidemark/call.h>
#include <tidemark/nn_functions.h>

#include "tidemark/nn/building.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::nn {

namespace {

Tensor convolved(std::string_view name, int rank, const Tensor& input, const Tensor& filters,
                 const ConvolutionOptions& options) {
  if (filters.shape().has_rank() && filters.rank() != rank + 2) {
    fail<InvalidArgumentError>(
        "[", name, "] filters have ", rank + 2,
        " dimensions: the window, channels, filters. Received shape: ", filters.shape());
  }
  return convolution(input, filters, options);
}

Tensor as_index(const Tensor& labels) {
  const bool is_index = labels.dtype() == DType::int32 || labels.dtype() == DType::int64;
  return is_index ? labels : cast(labels, DType::int64);
}

}  // namespace

Tensor conv1d(const Tensor& input, const Tensor& filters, const ConvolutionOptions& options) {
  TIDEMARK_HERE;
  return convolved("conv1d", 1, input, filters, options);
}

Tensor conv2d(const Tensor& input, const Tensor& filters, const ConvolutionOptions& options) {
  TIDEMARK_HERE;
  return convolved("conv2d", 2, input, filters, options);
}

Tensor conv3d(const Tensor& input, const Tensor& filters, const ConvolutionOptions& options) {
  TIDEMARK_HERE;
  return convolved("conv3d", 3, input, filters, options);
}

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

Tensor max_pool2d(const Tensor& input, const Ints& ksize, const MaxPoolOptions& options) {
  TIDEMARK_HERE;
  return max_pool(input, ksize, options);
}

Tensor avg_pool2d(const Tensor& input, const Ints& ksize, const AvgPoolOptions& options) {
  TIDEMARK_HERE;
  return avg_pool(input, ksize, options);
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
  const Tensor centre = mean(x, axes, true);
  const Tensor variance = mean(square(x - stop_gradient(centre)), axes, keepdims);
  return {keepdims ? centre : squeeze(centre, axes), variance};
}

Tensor batch_normalization(const Tensor& x, const Tensor& mean, const Tensor& variance,
                           const Tensor& offset, const Tensor& scale, double variance_epsilon) {
  TIDEMARK_HERE;
  Tensor by = rsqrt(variance + number(variance_epsilon, variance));
  if (scale) by = std::move(by) * scale;
  return x * by + (offset ? offset - mean * by : -(mean * by));
}

Tensor bias_add(const Tensor& value, const Tensor& bias) {
  TIDEMARK_HERE;
  return value + bias;
}

Tensor l2_loss(const Tensor& t) {
  TIDEMARK_HERE;
  return sum(square(t)) * number(0.5, t);
}

Tensor l2_normalize(const Tensor& x, int64_t axis, double epsilon) {
  TIDEMARK_HERE;
  const Tensor least = cast(Tensor(epsilon), x.dtype());
  return x * rsqrt(maximum(sum(square(x), Ints{axis}, true), least));
}

}  // namespace tidemark::nn
