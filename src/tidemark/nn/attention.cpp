#include <tidemark/call.h>
#include <tidemark/ops.h>
#include <tidemark/sequence_layers.h>

#include <cmath>

#include "tidemark/nn/building.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::nn {

namespace {

Tensor flat_weight(const Tensor& v, int64_t rows, int64_t columns) {
  return reshape(v, Tensor::of<int64_t>({rows, columns}));
}

/// [batch, heads, time, size] to [batch, time, heads * size].
Tensor together(const Tensor& heads, int64_t size) {
  const Tensor in_time = transpose(heads, Ints{0, 2, 1, 3});
  return reshape(in_time, stack(std::vector<Tensor>{first_size(in_time), size_at(in_time, 1),
                                                    Tensor(static_cast<int32_t>(size))}));
}

/// Query i, of which there are `before` earlier ones, sees the keys up to its own.
Tensor causal_mask(const Tensor& queries, const Tensor& keys, const Tensor& before) {
  const Tensor last = expand_dims(range(Tensor(0), queries, Tensor(1)) + before, 1);
  return less_equal(expand_dims(range(Tensor(0), keys, Tensor(1)), 0), last);
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(int64_t num_heads, int64_t key_dim,
                                       MultiHeadAttentionOptions options)
    : Module("MultiHeadAttention"),
      heads_(num_heads),
      key_dim_(key_dim),
      value_dim_(options.value_dim.value_or(key_dim)),
      options_(std::move(options)) {
  check_positive(kind(), "num_heads", num_heads);
  check_positive(kind(), "key_dim", key_dim);
  check_positive(kind(), "value_dim", value_dim_);
  will_build();
}

void MultiHeadAttention::make_weights(const Tensor& query, const Tensor& key,
                                      const Tensor& value) const {
  const int64_t made = options_.output_size.value_or(channels_of_rank(*this, query, 3));
  const auto projection = [&](const std::string& name, const Shape& kernel, const Shape& bias) {
    add(name + "_kernel", options_.kernel_initializer(kernel));
    if (options_.use_bias) add(name + "_bias", options_.bias_initializer(bias));
  };
  projection("query", {channels_of_rank(*this, query, 3), heads_, key_dim_}, {heads_, key_dim_});
  projection("key", {channels_of_rank(*this, key, 3), heads_, key_dim_}, {heads_, key_dim_});
  projection("value", {channels_of_rank(*this, value, 3), heads_, value_dim_},
             {heads_, value_dim_});
  projection("output", {heads_, value_dim_, made}, {made});
}

/// [batch, time, channels] to [batch, heads, time, size].
Tensor MultiHeadAttention::heads_of(const Tensor& x, size_t first_weight, int64_t size) const {
  Tensor y = matmul(x, flat_weight(beside(x, weight(first_weight)), -1, heads_ * size));
  if (options_.use_bias) {
    y = std::move(y) + reshape(beside(x, weight(first_weight + 1)), Tensor::of<int64_t>({-1}));
  }
  const Tensor apart = reshape(y, stack(std::vector<Tensor>{first_size(y), size_at(y, 1),
                                                            Tensor(static_cast<int32_t>(heads_)),
                                                            Tensor(static_cast<int32_t>(size))}));
  return transpose(apart, Ints{0, 2, 1, 3});
}

Tensor MultiHeadAttention::operator()(const Tensor& query, const Tensor& value,
                                      const AttentionCall& how) const {
  TIDEMARK_HERE;
  const Tensor& key = how.key ? how.key : value;
  build_once([&] { make_weights(query, key, value); });
  const size_t each = options_.use_bias ? 2 : 1;
  const Tensor q = heads_of(query, 0, key_dim_);
  Tensor k = heads_of(key, each, key_dim_), v = heads_of(value, 2 * each, value_dim_);
  Tensor mask(true);
  bool is_causal = how.causal;
  if (how.cache) {
    AttentionCache& seen = *how.cache;
    if (seen.key) {
      if (is_causal) {
        const Tensor before = size_at(seen.key, 2), now = size_at(q, 2);
        const Tensor open = causal_mask(now, before + size_at(k, 2), before);
        mask = expand_dims(expand_dims(open, 0), 0);
        is_causal = false;
      }
      k = concat(std::vector<Tensor>{seen.key, k}, 2);
      v = concat(std::vector<Tensor>{seen.value, v}, 2);
    }
    seen = {k, v};
  }
  if (how.mask) {
    const Tensor given = expand_dims(how.mask, 1);
    mask = mask.shape().rank() == 0 ? given : logical_and(mask, given);
  }
  const Tensor found =
      tidemark::attention(q, k, v, mask, 1 / std::sqrt(double(key_dim_)), is_causal)[0];
  Tensor y = matmul(together(found, heads_ * value_dim_),
                    flat_weight(beside(query, weight(3 * each)), heads_ * value_dim_, -1));
  if (options_.use_bias) y = std::move(y) + beside(query, weight(3 * each + 1));
  return y;
}

}  // namespace tidemark::nn
