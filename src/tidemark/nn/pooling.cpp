#include <tidemark/convolution_layers.h>
#include <tidemark/ops.h>

#include "tidemark/nn/building.h"
#include "tidemark/nn/windows.h"

namespace tidemark::nn {

Pooling::Pooling(std::string kind, Of of, int rank, const Sizes& pool_size,
                 const PoolingOptions& options)
    : Module(std::move(kind)),
      of_(of),
      rank_(rank),
      window_(pool_size.of_rank(rank, this->kind(), "pool_size")),
      strides_(options.strides ? options.strides->of_rank(rank, this->kind(), "strides") : window_),
      padding_(padding_of(this->kind(), options.padding)) {}

Tensor Pooling::operator()(const Tensor& x) const {
  TIDEMARK_HERE;
  channels_of_rank(*this, x, rank_ + 2);
  if (of_ == Of::mean) return avg_pool(x, window_, strides_, padding_);
  return max_pool(x, window_, strides_, padding_);
}

namespace {

/// The dimensions between the first and the last.
Ints positions_of(const Module& layer, const Tensor& x) {
  channels_of(layer, x, 3);
  Ints out;
  for (int i = 1; i < x.rank() - 1; ++i) out.push_back(i);
  return out;
}

}  // namespace

Tensor GlobalAveragePooling::operator()(const Tensor& x) const {
  TIDEMARK_HERE;
  return mean(x, positions_of(*this, x));
}

Tensor GlobalMaxPooling::operator()(const Tensor& x) const {
  TIDEMARK_HERE;
  return max(x, positions_of(*this, x));
}

}  // namespace tidemark::nn
