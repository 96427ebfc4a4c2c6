// Layers without windows or time: Dense, Embedding, normalisations, Dropout, shapes.
//
//   td::nn::Dense dense(128, {.activation = "relu"});
//   td::Tensor y = dense(x);                        // [batch, n] to [batch, 128]
//   td::nn::LayerNormalization norm;
//   td::nn::Embedding words(10'000, 64);
//   td::Tensor z = norm(words(ids));                // [batch, time] to [batch, time, 64]
//
// Names, defaults and the order of weights are those of Keras's layers. A layer computes in the
// dtype of its input; its weights are float32.
#pragma once

#include <tidemark/activations.h>
#include <tidemark/attr.h>
#include <tidemark/module.h>

namespace tidemark::nn {

struct DenseOptions {
  Activation activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
};
/// activation(x · kernel + bias) over the last dimension. Weights: kernel, bias.
class TIDEMARK_API Dense : public Module {
 public:
  explicit Dense(int64_t units, DenseOptions options = {});
  Tensor operator()(const Tensor& x) const;

 private:
  int64_t units_;
  DenseOptions options_;
};

struct EmbeddingOptions {
  Initializer embeddings_initializer = "uniform";
};
/// Row i of its only weight, embeddings, for each integer i. There at once.
class TIDEMARK_API Embedding : public Module {
 public:
  Embedding(int64_t input_dim, int64_t output_dim, const EmbeddingOptions& options = {});
  Tensor operator()(const Tensor& ids) const;
};

struct BatchNormalizationOptions {
  double momentum = 0.99;
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
};
/// Each channel (of the last dimension) normalised over the batch, and in evaluation by the moving
/// averages. Weights: gamma, beta, moving_mean, moving_variance.
class TIDEMARK_API BatchNormalization : public Module {
 public:
  explicit BatchNormalization(BatchNormalizationOptions options = {});
  Tensor operator()(const Tensor& x) const;

 private:
  BatchNormalizationOptions options_;
};

struct LayerNormalizationOptions {
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
};
/// Normalised over the last dimension. Weights: gamma, beta.
class TIDEMARK_API LayerNormalization : public Module {
 public:
  explicit LayerNormalization(LayerNormalizationOptions options = {});
  Tensor operator()(const Tensor& x) const;

 private:
  LayerNormalizationOptions options_;
};

struct RMSNormalizationOptions {
  double epsilon = 1e-6;
};
/// Divided by the root of the mean square over the last dimension. Weight: scale.
class TIDEMARK_API RMSNormalization : public Module {
 public:
  explicit RMSNormalization(RMSNormalizationOptions options = {});
  Tensor operator()(const Tensor& x) const;

 private:
  RMSNormalizationOptions options_;
};

struct GroupNormalizationOptions {
  int64_t groups = 32;  // -1: each channel by itself
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
};
/// Normalised over all dimensions but the first, each group of channels by itself. Weights: gamma,
/// beta.
class TIDEMARK_API GroupNormalization : public Module {
 public:
  explicit GroupNormalization(GroupNormalizationOptions options = {});
  Tensor operator()(const Tensor& x) const;

 private:
  GroupNormalizationOptions options_;
};

using BatchNorm = BatchNormalization;
using LayerNorm = LayerNormalization;
using RMSNorm = RMSNormalization;
using GroupNorm = GroupNormalization;

/// In training each element is 0 with probability `rate`; the others grow so that the mean stays.
class TIDEMARK_API Dropout : public Module {
 public:
  explicit Dropout(double rate);
  Tensor operator()(const Tensor& x) const;

 private:
  double rate_;
};

/// The input in another dtype. In front of layers it makes them compute in a half type (mixed
/// precision): weights, moving averages and the sums of normalisations stay float32.
class TIDEMARK_API Cast : public Module {
 public:
  explicit Cast(DType dtype) : Module("Cast"), dtype_(dtype) {}
  Tensor operator()(const Tensor& x) const;

 private:
  DType dtype_;
};

/// [batch, …] to [batch, everything else].
class TIDEMARK_API Flatten : public Module {
 public:
  Flatten() : Module("Flatten") {}
  Tensor operator()(const Tensor& x) const;
};

/// The dimensions after the first in another shape; one may be -1.
class TIDEMARK_API Reshape : public Module {
 public:
  explicit Reshape(Ints target) : Module("Reshape"), target_(std::move(target)) {}
  Tensor operator()(const Tensor& x) const;

 private:
  Ints target_;
};

}  // namespace tidemark::nn
