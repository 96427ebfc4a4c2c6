#include <tidemark/call.h>
#include <tidemark/nn_functions.h>

#include "tidemark/nn/building.h"

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

Tensor l2_normalize(const Tensor& x, int64_t axis, double epsilon) {
  TIDEMARK_HERE;
  const Tensor least = cast(Tensor(epsilon), x.dtype());
  return x * rsqrt(maximum(sum(square(x), Ints{axis}, true), least));
}

}  // namespace tidemark::nn
