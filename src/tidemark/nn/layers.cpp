#include <tidemark/call.h>
#include <tidemark/create.h>
#include <tidemark/layers.h>
#include <tidemark/nn_functions.h>
#include <tidemark/ops.h>

#include "tidemark/nn/building.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::nn {

Dense::Dense(int64_t units, DenseOptions options)
    : Module("Dense"), units_(units), options_(std::move(options)) {
  check_positive(kind(), "units", units);
  will_build();
}

Tensor Dense::operator()(const Tensor& x) const {
  TIDEMARK_HERE;
  build_once([&] {
    add("kernel", options_.kernel_initializer({channels_of(*this, x, 2), units_}));
    if (options_.use_bias) add("bias", options_.bias_initializer({units_}));
  });
  Tensor y = matmul(x, beside(x, weight(0)));
  if (options_.use_bias) y = std::move(y) + beside(x, weight(1));
  return options_.activation(y);
}

Embedding::Embedding(int64_t input_dim, int64_t output_dim, const EmbeddingOptions& options)
    : Module("Embedding") {
  TIDEMARK_HERE;
  check_positive(kind(), "input_dim", input_dim);
  check_positive(kind(), "output_dim", output_dim);
  add("embeddings", options.embeddings_initializer({input_dim, output_dim}));
}

Tensor Embedding::operator()(const Tensor& ids) const {
  TIDEMARK_HERE;
  if (is_integer(ids.dtype())) return gather(weight(0), ids);
  return gather(weight(0), cast(ids, DType::int32));
}

Dropout::Dropout(double rate) : Module("Dropout"), rate_(rate) {
  if (!(rate >= 0 && rate < 1)) {
    fail<InvalidArgumentError>("[Dropout] `rate` is in [0, 1). Received: ", rate);
  }
}

Tensor Dropout::operator()(const Tensor& x) const {
  TIDEMARK_HERE;
  return is_training() ? dropout(x, rate_) : x;
}

Tensor Cast::operator()(const Tensor& x) const {
  TIDEMARK_HERE;
  return cast(x, dtype_);
}

Tensor Flatten::operator()(const Tensor& x) const {
  TIDEMARK_HERE;
  const Shape& shape = x.shape();
  // Of rank 0 or 1 each element is a row, as in Keras.
  if (shape.has_rank() && shape.rank() < 2) return reshape(x, Tensor::of({-1, 1}));
  int64_t size = 1;
  for (int i = 1; i < shape.rank() && size != kUnknownDim; ++i) {
    size = shape[i] == kUnknownDim ? kUnknownDim : size * shape[i];
  }
  if (shape.has_rank() && size != kUnknownDim && size != 0) {
    return reshape(x, Tensor::of<int64_t>({-1, size}));
  }
  return reshape(x, stack(std::vector<Tensor>{first_size(x), Tensor(-1)}));
}

Tensor Reshape::operator()(const Tensor& x) const {
  TIDEMARK_HERE;
  std::vector<Tensor> sizes = {first_size(x)};
  for (const int64_t size : target_) sizes.emplace_back(static_cast<int32_t>(size));
  return reshape(x, stack(sizes));
}

}  // namespace tidemark::nn
