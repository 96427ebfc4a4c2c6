#include <tidemark/call.h>
#include <tidemark/create.h>
#include <tidemark/layers.h>
#include <tidemark/ops.h>

#include "tidemark/nn/building.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::nn {

namespace {

/// Means of many numbers of a half type are computed in float32, as Keras does.
template <class Normalise>
Tensor in_float32(const Tensor& x, const Normalise& normalise) {
  if (!is_half(x.dtype())) return normalise(x);
  return cast(normalise(cast(x, DType::float32)), x.dtype());
}

}  // namespace

BatchNormalization::BatchNormalization(BatchNormalizationOptions options)
    : Module("BatchNormalization"), options_(options) {
  will_build();
}

Tensor BatchNormalization::operator()(const Tensor& given) const {
  TIDEMARK_HERE;
  return in_float32(given, [&](const Tensor& x) {
    const int64_t channels = channels_of(*this, x, 2);
    build_once([&] {
      if (options_.scale) add("gamma", ones({channels}));
      if (options_.center) add("beta", zeros({channels}));
      add("moving_mean", zeros({channels}), false);
      add("moving_variance", ones({channels}), false);
    });
    size_t next = 0;
    const Tensor gamma = options_.scale ? weight(next++).operand() : ones({channels});
    const Tensor beta = options_.center ? weight(next++).operand() : zeros({channels});
    Variable mean = weight(next++), variance = weight(next);
    if (!is_training()) {
      const Tensor scale = gamma * rsqrt(variance + Tensor(static_cast<float>(options_.epsilon)));
      return x * scale + (beta - mean * scale);
    }
    const std::vector<Tensor> found = batch_norm(x, gamma, beta, options_.epsilon);
    const auto part = static_cast<float>(1 - options_.momentum);
    mean.assign_add((found[1] - mean) * part);
    variance.assign_add((found[2] - variance) * part);
    return found[0];
  });
}

LayerNormalization::LayerNormalization(LayerNormalizationOptions options)
    : Module("LayerNormalization"), options_(options) {
  will_build();
}

Tensor LayerNormalization::operator()(const Tensor& given) const {
  TIDEMARK_HERE;
  return in_float32(given, [&](const Tensor& x) {
    const int64_t channels = channels_of(*this, x, 1);
    build_once([&] {
      if (options_.scale) add("gamma", ones({channels}));
      if (options_.center) add("beta", zeros({channels}));
    });
    const Tensor gamma = options_.scale ? weight(0).operand() : ones({channels});
    const Tensor beta =
        options_.center ? weight(options_.scale ? 1 : 0).operand() : zeros({channels});
    return layer_norm(x, gamma, beta, options_.epsilon)[0];
  });
}

RMSNormalization::RMSNormalization(RMSNormalizationOptions options)
    : Module("RMSNormalization"), options_(options) {
  will_build();
}

Tensor RMSNormalization::operator()(const Tensor& given) const {
  TIDEMARK_HERE;
  return in_float32(given, [&](const Tensor& x) {
    build_once([&] { add("scale", ones({channels_of(*this, x, 1)})); });
    return rms_norm(x, weight(0), options_.epsilon)[0];
  });
}

GroupNormalization::GroupNormalization(GroupNormalizationOptions options)
    : Module("GroupNormalization"), options_(options) {
  will_build();
}

Tensor GroupNormalization::operator()(const Tensor& given) const {
  TIDEMARK_HERE;
  return in_float32(given, [&](const Tensor& x) {
    const int64_t channels = channels_of(*this, x, 2);
    const int64_t groups = options_.groups == -1 ? channels : options_.groups;
    if (groups < 1 || channels % groups != 0) {
      fail<InvalidArgumentError>("[GroupNormalization] the number of channels, ", channels,
                                 ", must be a multiple of `groups`. Received: ", groups);
    }
    build_once([&] {
      if (options_.scale) add("gamma", ones({channels}));
      if (options_.center) add("beta", zeros({channels}));
    });
    // [batch, positions, groups, channels of a group].
    const Tensor parts = reshape(
        x,
        stack(std::vector<Tensor>{first_size(x), Tensor(-1), Tensor(static_cast<int32_t>(groups)),
                                  Tensor(static_cast<int32_t>(channels / groups))}));
    const Tensor centred = parts - mean(parts, Ints{1, 3}, true);
    const Tensor spread = mean(square(centred), Ints{1, 3}, true);
    Tensor y = reshape(centred * rsqrt(spread + static_cast<float>(options_.epsilon)), sizes_of(x));
    if (options_.scale) y = std::move(y) * weight(0);
    if (options_.center) y = std::move(y) + weight(options_.scale ? 1 : 0);
    return y;
  });
}

}  // namespace tidemark::nn
