#include <tidemark/call.h>
#include <tidemark/convolution_layers.h>
#include <tidemark/create.h>
#include <tidemark/ops.h>

#include <algorithm>

#include "tidemark/nn/building.h"
#include "tidemark/nn/shapes.h"
#include "tidemark/nn/windows.h"

namespace tidemark::nn {

Ints Sizes::of_rank(int rank, std::string_view kind, std::string_view what) const {
  const bool is_positive =
      std::all_of(values_.begin(), values_.end(), [](int64_t value) { return value > 0; });
  if (values_.size() == 1 && is_positive) return Ints(static_cast<size_t>(rank), values_[0]);
  if (values_.size() == static_cast<size_t>(rank) && is_positive) return values_;
  fail<InvalidArgumentError>("[", kind, "] `", what, "` is one positive number or ", rank,
                             " of them. Received: ", Attr(values_));
}

std::string padding_of(std::string_view kind, const std::string& padding) {
  if (padding == "valid" || padding == "VALID") return "VALID";
  if (padding == "same" || padding == "SAME") return "SAME";
  fail<InvalidArgumentError>("[", kind, "] `padding` is \"valid\" or \"same\". Received: \"",
                             padding, "\"");
}

namespace {

std::string numbered(std::string_view before, int rank, std::string_view after = "") {
  return std::string(before) + std::to_string(rank) + "D" + std::string(after);
}

Shape kernel_shape(const Ints& window, int64_t before_last, int64_t last) {
  Shape out{std::span<const int64_t>(window)};
  out.push_back(before_last);
  out.push_back(last);
  return out;
}

/// [batch, time, channels] with zeros before the first, so that no window looks ahead.
Tensor padded_before(const Tensor& x, int64_t steps) {
  const Tensor sizes = Tensor::of({0, 0, static_cast<int32_t>(steps), 0, 0, 0}, {3, 2});
  return pad(x, sizes, "CONSTANT", cast(Tensor(0.f), x.dtype()));
}

}  // namespace

Conv::Conv(int rank, int64_t filters, const Sizes& kernel_size, ConvOptions options)
    : Module(numbered("Conv", rank)),
      rank_(rank),
      filters_(filters),
      window_(kernel_size.of_rank(rank, kind(), "kernel_size")),
      strides_(options.strides.of_rank(rank, kind(), "strides")),
      dilations_(options.dilation_rate.of_rank(rank, kind(), "dilation_rate")),
      options_(std::move(options)) {
  check_positive(kind(), "filters", filters);
  check_positive(kind(), "groups", options_.groups);
  if (filters % options_.groups != 0) {
    fail<InvalidArgumentError>("[", kind(), "] `filters`, ", filters,
                               ", must be a multiple of `groups`. Received: ", options_.groups);
  }
  if (rank != 1 || options_.padding != "causal") padding_of(kind(), options_.padding);
  will_build();
}

Tensor Conv::operator()(const Tensor& x) const {
  TIDEMARK_HERE;
  const int64_t channels = channels_of_rank(*this, x, rank_ + 2);
  build_once([&] {
    if (channels % options_.groups != 0) {
      fail<InvalidArgumentError>("[", kind(), "] the ", channels,
                                 " channels must be a multiple of `groups`, ", options_.groups);
    }
    add("kernel",
        options_.kernel_initializer(kernel_shape(window_, channels / options_.groups, filters_)));
    if (options_.use_bias) add("bias", options_.bias_initializer({filters_}));
  });
  const bool is_causal = options_.padding == "causal";
  const Tensor images = is_causal ? padded_before(x, (window_[0] - 1) * dilations_[0]) : x;
  Tensor y = convolution(images, beside(x, weight(0)),
                         {.strides = strides_,
                          .padding = is_causal ? "VALID" : padding_of(kind(), options_.padding),
                          .dilations = dilations_});
  if (options_.use_bias) y = std::move(y) + beside(x, weight(1));
  return options_.activation(y);
}

ConvTranspose::ConvTranspose(int rank, int64_t filters, const Sizes& kernel_size,
                             ConvTransposeOptions options)
    : Module(numbered("Conv", rank, "Transpose")),
      rank_(rank),
      filters_(filters),
      window_(kernel_size.of_rank(rank, kind(), "kernel_size")),
      strides_(options.strides.of_rank(rank, kind(), "strides")),
      options_(std::move(options)) {
  check_positive(kind(), "filters", filters);
  padding_of(kind(), options_.padding);
  will_build();
}

Tensor ConvTranspose::operator()(const Tensor& x) const {
  TIDEMARK_HERE;
  const int64_t channels = channels_of_rank(*this, x, rank_ + 2);
  build_once([&] {
    add("kernel", options_.kernel_initializer(kernel_shape(window_, filters_, channels)));
    if (options_.use_bias) add("bias", options_.bias_initializer({filters_}));
  });
  const std::string padding = padding_of(kind(), options_.padding);
  // What a convolution would make x of.
  std::vector<Tensor> sizes = {first_size(x)};
  for (int i = 0; i < rank_; ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t more = padding == "SAME" ? 0 : std::max<int64_t>(window_[at] - strides_[at], 0);
    sizes.push_back(size_at(x, i + 1) * static_cast<int32_t>(strides_[at]) +
                    static_cast<int32_t>(more));
  }
  sizes.emplace_back(static_cast<int32_t>(filters_));
  Tensor y = convolution_input_grad(stack(sizes), beside(x, weight(0)), x,
                                    {.strides = strides_, .padding = padding});
  if (options_.use_bias) y = std::move(y) + beside(x, weight(1));
  return options_.activation(y);
}

DepthwiseConv::DepthwiseConv(int rank, const Sizes& kernel_size, DepthwiseConvOptions options)
    : Module(numbered("DepthwiseConv", rank)),
      rank_(rank),
      window_(kernel_size.of_rank(rank, kind(), "kernel_size")),
      strides_(options.strides.of_rank(rank, kind(), "strides")),
      dilations_(options.dilation_rate.of_rank(rank, kind(), "dilation_rate")),
      options_(std::move(options)) {
  check_positive(kind(), "depth_multiplier", options_.depth_multiplier);
  padding_of(kind(), options_.padding);
  will_build();
}

Tensor DepthwiseConv::operator()(const Tensor& x) const {
  TIDEMARK_HERE;
  const int64_t channels = channels_of_rank(*this, x, rank_ + 2);
  const int64_t made = channels * options_.depth_multiplier;
  build_once([&] {
    add("kernel",
        options_.depthwise_initializer(kernel_shape(window_, channels, options_.depth_multiplier)));
    if (options_.use_bias) add("bias", options_.bias_initializer({made}));
  });
  const Shape grouped = kernel_shape(window_, 1, made);
  Tensor y =
      convolution(x, reshape(beside(x, weight(0)), Tensor::of(grouped.dims(), {grouped.rank()})),
                  {.strides = strides_,
                   .padding = padding_of(kind(), options_.padding),
                   .dilations = dilations_});
  if (options_.use_bias) y = std::move(y) + beside(x, weight(1));
  return options_.activation(y);
}

}  // namespace tidemark::nn
