// Layers over time: LSTM, GRU, attention.
//
//   td::nn::LSTM lstm(64, {.return_sequences = true});
//   td::Tensor y = lstm(x);                                   // [batch, time, n] to […, 64]
//   td::nn::MultiHeadAttention attention(4, 16);
//   td::Tensor z = attention(y, y, {.causal = true});
//
//   td::nn::AttentionCache cache;                             // what was seen, for one step more
//   td::Tensor next = attention(step, step, {.causal = true, .cache = &cache});
//
// Names, defaults and the order of weights are those of Keras's layers.
#pragma once

#include <tidemark/activations.h>
#include <tidemark/module.h>

#include <optional>

namespace tidemark::nn {

struct RecurrentOptions {
  Activation activation = "tanh";
  Activation recurrent_activation = "sigmoid";
  bool use_bias = true;
  /// True: the outputs of all steps; else that of the last.
  bool return_sequences = false;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
};

/// What a recurrent layer computes: its output, and its state after the last step.
struct RecurrentResult {
  Tensor output;
  std::vector<Tensor> state;
};

/// [batch, time, channels]. Weights: kernel, recurrent_kernel, bias; the gates in the order input,
/// forget, cell, output. The bias of the forget gates begins at 1.
class TIDEMARK_API LSTM : public Module {
 public:
  explicit LSTM(int64_t units, RecurrentOptions options = {});
  Tensor operator()(const Tensor& x) const;
  /// From a state (output and cell, [batch, units] each) that an earlier call gave; none: zeros.
  RecurrentResult run(const Tensor& x, const std::vector<Tensor>& state = {}) const;

 private:
  int64_t units_;
  RecurrentOptions options_;
};

/// [batch, time, channels]. Weights: kernel, recurrent_kernel, bias [2, 3 * units]; the gates in
/// the order update, reset, candidate. The reset gate comes after the product (Keras's
/// reset_after).
class TIDEMARK_API GRU : public Module {
 public:
  explicit GRU(int64_t units, RecurrentOptions options = {});
  Tensor operator()(const Tensor& x) const;
  /// From a state (the output, [batch, units]) that an earlier call gave; none: zeros.
  RecurrentResult run(const Tensor& x, const std::vector<Tensor>& state = {}) const;

 private:
  int64_t units_;
  RecurrentOptions options_;
};

/// Keys and values of all calls so far, [batch, heads, time, size]. For calls that are not traced;
/// a function takes and returns the two tensors.
struct AttentionCache {
  Tensor key, value;
};

struct MultiHeadAttentionOptions {
  std::optional<int64_t> value_dim = std::nullopt;    // none: key_dim
  std::optional<int64_t> output_size = std::nullopt;  // none: that of the query
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
};
struct AttentionCall {
  Tensor key = {};   // none: the value
  Tensor mask = {};  // bool, [batch, query's time, value's time]: false is not seen
  bool causal = false;
  AttentionCache* cache = nullptr;
};
/// Weights: kernel and bias of query, key, value and output.
class TIDEMARK_API MultiHeadAttention : public Module {
 public:
  MultiHeadAttention(int64_t num_heads, int64_t key_dim, MultiHeadAttentionOptions options = {});
  Tensor operator()(const Tensor& query, const Tensor& value, const AttentionCall& how = {}) const;

 private:
  void make_weights(const Tensor& query, const Tensor& key, const Tensor& value) const;
  Tensor heads_of(const Tensor& x, size_t first_weight, int64_t size) const;

  int64_t heads_, key_dim_, value_dim_;
  MultiHeadAttentionOptions options_;
};

}  // namespace tidemark::nn
