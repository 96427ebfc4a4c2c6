// Layers with windows: convolutions and pooling over one to three dimensions, channels last.
//
//   td::nn::Conv2D conv(32, 3, {.strides = 2, .padding = "same", .activation = "relu"});
//   td::nn::MaxPooling2D pool(2);
//   td::Tensor y = pool(conv(images));                     // [batch, rows, columns, channels]
//   td::nn::Conv2DTranspose up(16, {2, 2}, {.strides = {2, 2}});
//
// Names, defaults and the order of weights are those of Keras's layers.
#pragma once

#include <tidemark/activations.h>
#include <tidemark/attr.h>
#include <tidemark/module.h>

#include <optional>

namespace tidemark::nn {

/// One size for all dimensions, or one for each.
class TIDEMARK_API Sizes {
 public:
  Sizes(int64_t all) : values_{all} {}
  Sizes(std::initializer_list<int64_t> each) : values_(each) {}
  /// Of `rank` dimensions; throws InvalidArgumentError unless there are as many, all positive.
  Ints of_rank(int rank, std::string_view kind, std::string_view what) const;

 private:
  Ints values_;
};

struct ConvOptions {
  Sizes strides = 1;
  std::string padding = "valid";  // or "same"; of one dimension also "causal"
  Sizes dilation_rate = 1;
  int64_t groups = 1;
  Activation activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
};
/// Weights: kernel [window…, channels / groups, filters], bias.
class TIDEMARK_API Conv : public Module {
 public:
  Tensor operator()(const Tensor& x) const;

 protected:
  Conv(int rank, int64_t filters, const Sizes& kernel_size, ConvOptions options);

 private:
  int rank_;
  int64_t filters_;
  Ints window_, strides_, dilations_;
  ConvOptions options_;
};
struct TIDEMARK_API Conv1D : Conv {
  Conv1D(int64_t filters, const Sizes& kernel_size, ConvOptions options = {})
      : Conv(1, filters, kernel_size, std::move(options)) {}
};
struct TIDEMARK_API Conv2D : Conv {
  Conv2D(int64_t filters, const Sizes& kernel_size, ConvOptions options = {})
      : Conv(2, filters, kernel_size, std::move(options)) {}
};
struct TIDEMARK_API Conv3D : Conv {
  Conv3D(int64_t filters, const Sizes& kernel_size, ConvOptions options = {})
      : Conv(3, filters, kernel_size, std::move(options)) {}
};

struct ConvTransposeOptions {
  Sizes strides = 1;
  std::string padding = "valid";  // or "same"
  Activation activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
};
/// The transpose of a convolution: each element spreads over a window. Weights: kernel [window…,
/// filters, channels], bias.
class TIDEMARK_API ConvTranspose : public Module {
 public:
  Tensor operator()(const Tensor& x) const;

 protected:
  ConvTranspose(int rank, int64_t filters, const Sizes& kernel_size, ConvTransposeOptions options);

 private:
  int rank_;
  int64_t filters_;
  Ints window_, strides_;
  ConvTransposeOptions options_;
};
struct TIDEMARK_API Conv1DTranspose : ConvTranspose {
  Conv1DTranspose(int64_t filters, const Sizes& kernel_size, ConvTransposeOptions options = {})
      : ConvTranspose(1, filters, kernel_size, std::move(options)) {}
};
struct TIDEMARK_API Conv2DTranspose : ConvTranspose {
  Conv2DTranspose(int64_t filters, const Sizes& kernel_size, ConvTransposeOptions options = {})
      : ConvTranspose(2, filters, kernel_size, std::move(options)) {}
};
struct TIDEMARK_API Conv3DTranspose : ConvTranspose {
  Conv3DTranspose(int64_t filters, const Sizes& kernel_size, ConvTransposeOptions options = {})
      : ConvTranspose(3, filters, kernel_size, std::move(options)) {}
};

struct DepthwiseConvOptions {
  Sizes strides = 1;
  std::string padding = "valid";  // or "same"
  int64_t depth_multiplier = 1;
  Sizes dilation_rate = 1;
  Activation activation = {};
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
};
/// Each channel by itself. Weights: kernel [window…, channels, depth_multiplier], bias.
class TIDEMARK_API DepthwiseConv : public Module {
 public:
  Tensor operator()(const Tensor& x) const;

 protected:
  DepthwiseConv(int rank, const Sizes& kernel_size, DepthwiseConvOptions options);

 private:
  int rank_;
  Ints window_, strides_, dilations_;
  DepthwiseConvOptions options_;
};
struct TIDEMARK_API DepthwiseConv1D : DepthwiseConv {
  explicit DepthwiseConv1D(const Sizes& kernel_size, DepthwiseConvOptions options = {})
      : DepthwiseConv(1, kernel_size, std::move(options)) {}
};
struct TIDEMARK_API DepthwiseConv2D : DepthwiseConv {
  explicit DepthwiseConv2D(const Sizes& kernel_size, DepthwiseConvOptions options = {})
      : DepthwiseConv(2, kernel_size, std::move(options)) {}
};

struct PoolingOptions {
  std::optional<Sizes> strides = std::nullopt;  // none: as large as the windows
  std::string padding = "valid";                // or "same"
};
/// The greatest element, or the mean, of each window and channel.
class TIDEMARK_API Pooling : public Module {
 public:
  Tensor operator()(const Tensor& x) const;

 protected:
  enum class Of { greatest, mean };
  Pooling(std::string kind, Of of, int rank, const Sizes& pool_size, const PoolingOptions& options);

 private:
  Of of_;
  int rank_;
  Ints window_, strides_;
  std::string padding_;
};
struct TIDEMARK_API MaxPooling1D : Pooling {
  explicit MaxPooling1D(const Sizes& pool_size = 2, const PoolingOptions& options = {})
      : Pooling("MaxPooling1D", Of::greatest, 1, pool_size, options) {}
};
struct TIDEMARK_API MaxPooling2D : Pooling {
  explicit MaxPooling2D(const Sizes& pool_size = 2, const PoolingOptions& options = {})
      : Pooling("MaxPooling2D", Of::greatest, 2, pool_size, options) {}
};
struct TIDEMARK_API MaxPooling3D : Pooling {
  explicit MaxPooling3D(const Sizes& pool_size = 2, const PoolingOptions& options = {})
      : Pooling("MaxPooling3D", Of::greatest, 3, pool_size, options) {}
};
struct TIDEMARK_API AveragePooling1D : Pooling {
  explicit AveragePooling1D(const Sizes& pool_size = 2, const PoolingOptions& options = {})
      : Pooling("AveragePooling1D", Of::mean, 1, pool_size, options) {}
};
struct TIDEMARK_API AveragePooling2D : Pooling {
  explicit AveragePooling2D(const Sizes& pool_size = 2, const PoolingOptions& options = {})
      : Pooling("AveragePooling2D", Of::mean, 2, pool_size, options) {}
};
struct TIDEMARK_API AveragePooling3D : Pooling {
  explicit AveragePooling3D(const Sizes& pool_size = 2, const PoolingOptions& options = {})
      : Pooling("AveragePooling3D", Of::mean, 3, pool_size, options) {}
};

/// Over all positions of [batch, positions…, channels]: [batch, channels].
struct TIDEMARK_API GlobalAveragePooling : Module {
  GlobalAveragePooling() : Module("GlobalAveragePooling") {}
  Tensor operator()(const Tensor& x) const;
};
struct TIDEMARK_API GlobalMaxPooling : Module {
  GlobalMaxPooling() : Module("GlobalMaxPooling") {}
  Tensor operator()(const Tensor& x) const;
};

}  // namespace tidemark::nn
