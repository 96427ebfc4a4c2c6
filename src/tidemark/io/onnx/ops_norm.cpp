// Normalisations.
#include <algorithm>
#include <cmath>

#include "tidemark/io/onnx/build.h"

namespace tidemark::io::onnx {

namespace {

/// Sums are kept in float32 at least.
DType wide(DType dtype) { return dtype == DType::float64 ? dtype : DType::float32; }

Ints axes_from(int first, int rank) {
  Ints axes;
  for (int i = first; i < rank; ++i) axes.push_back(i);
  return axes;
}

Values batch_norm_node(const Call& c) {
  const Tensor& x = c.in(0);
  const int rank = rank_of(x);
  const DType dtype = wide(x.dtype());
  const auto channel = [&](const Tensor& t) { return per_channel(as(t, dtype), rank); };
  const double epsilon = c.real("epsilon", 1e-5), momentum = c.real("momentum", 0.9);
  const Tensor scale = channel(c.in(1)), offset = channel(c.in(2));
  const bool is_training =
      c.version >= 14 ? c.integer("training_mode", 0) != 0 : c.num_outputs() > 1;
  if (!is_training) {
    Tensor factor, shift;
    {
      const NowIfKnown now(c.in(1), c.in(2), c.in(3), c.in(4));
      factor = scale * rsqrt(channel(c.in(4)) + number(epsilon, dtype));
      shift = offset - channel(c.in(3)) * factor;
    }
    return {as(as(x, dtype) * factor + shift, x.dtype())};
  }
  Ints axes = axes_from(2, rank);
  axes.insert(axes.begin(), 0);
  const Tensor seen = as(x, dtype);
  const Tensor average = mean(seen, axes, true);
  const Tensor spread = mean(square(seen - average), axes, true);
  const Tensor y = (seen - average) * rsqrt(spread + number(epsilon, dtype)) * scale + offset;
  const auto running = [&](size_t input, const Tensor& now) {
    const Tensor& before = c.in(input);
    const Tensor flat = as(reshaped(now, {-1}), before.dtype());
    return before * number(momentum, before) + flat * number(1 - momentum, before);
  };
  return {as(y, x.dtype()), running(3, average), running(4, spread)};
}

Tensor instance_norm(const Call& c) {
  const Tensor& x = c.in(0);
  const int rank = rank_of(x);
  const Ints axes = axes_from(2, rank);
  const Tensor centred = x - mean(x, axes, true);
  const Tensor spread = mean(square(centred), axes, true);
  const Tensor factor = rsqrt(spread + number(c.real("epsilon", 1e-5), x));
  return centred * (factor * per_channel(c.in(1), rank)) + per_channel(c.in(2), rank);
}

Tensor group_norm(const Call& c) {
  const Tensor& x = c.in(0);
  const int rank = rank_of(x);
  const int64_t groups = c.integer("num_groups"), channels = known_dim(x, 1);
  if (groups < 1 || channels % groups != 0) c.fail("channels must be a multiple of num_groups");
  const DType dtype = wide(x.dtype());
  const Tensor parts[] = {expand_dims(dim_of(x, 0), 0), vector_of({groups, -1})};
  const Tensor rows = reshape(as(x, dtype), concat(parts, 0));
  const Tensor centred = rows - mean(rows, Ints{2}, true);
  const Tensor spread = mean(square(centred), Ints{2}, true);
  Tensor y = centred * rsqrt(spread + number(c.real("epsilon", 1e-5), dtype));
  y = reshape(y, shape_of(x));
  const auto channel = [&](const Tensor& t) {
    Tensor each = as(t, dtype);
    if (c.version < 21 && t.dim(0) == groups && groups != channels) {
      each = repeat(each, Tensor(channels / groups), 0);
    }
    return per_channel(each, rank);
  };
  return as(y * channel(c.in(1)) + channel(c.in(2)), x.dtype());
}

/// Whether one scale an element of the normalised dimensions is given, so that one op does it.
bool is_plain(const Tensor& x, const Tensor& scale, int axis) {
  const int rank = rank_of(x);
  if (!scale.shape().has_rank() || rank_of(scale) != rank - axis) return false;
  for (int i = axis; i < rank; ++i) {
    if (x.dim(i) == kUnknownDim || x.dim(i) != scale.dim(i - axis)) return false;
  }
  return true;
}

Values layer_norm_node(const Call& c) {
  const Tensor &x = c.in(0), &scale = c.in(1);
  const int rank = rank_of(x), axis = axis_of(c.integer("axis", -1), rank);
  const double epsilon = c.real("epsilon", 1e-5);
  if (is_plain(x, scale, axis) && !c.wants(1) && !c.wants(2)) {
    const Tensor flat = reshaped(scale, {-1});
    const Tensor offset = c.has(2) ? reshaped(c.in(2), {-1}) : zeros_like(flat);
    if (axis == rank - 1) return {layer_norm(x, flat, offset, epsilon)[0]};
    return {reshape(layer_norm(merged(x, axis, rank), flat, offset, epsilon)[0], shape_of(x))};
  }
  const DType dtype = wide(x.dtype());
  const Ints axes = axes_from(axis, rank);
  const Tensor seen = as(x, dtype);
  const Tensor average = mean(seen, axes, true);
  const Tensor centred = seen - average;
  const Tensor factor = rsqrt(mean(square(centred), axes, true) + number(epsilon, dtype));
  Tensor y = as(centred * factor, x.dtype()) * scale;
  if (c.has(2)) y = y + c.in(2);
  return {y, average, factor};
}

Tensor rms_norm_node(const Call& c) {
  const Tensor &x = c.in(0), &scale = c.in(1);
  const int rank = rank_of(x), axis = axis_of(c.integer("axis", -1), rank);
  const double epsilon = c.real("epsilon", 1e-5);
  const DType dtype = wide(x.dtype());
  const Tensor seen = as(x, dtype);
  const Tensor factor =
      rsqrt(mean(square(seen), axes_from(axis, rank), true) + number(epsilon, dtype));
  return as(seen * factor, x.dtype()) * scale;
}

Tensor lp_norm(const Call& c) {
  const Tensor& x = c.in(0);
  const Ints axis{c.integer("axis", -1)};
  const Tensor length =
      c.integer("p", 2) == 1 ? sum(abs(x), axis, true) : sqrt(sum(square(x), axis, true));
  return select(equal(length, number(0, x)), zeros_like(x), x / length);
}

Tensor mean_variance_norm(const Call& c) {
  const Tensor& x = c.in(0);
  const Ints axes = c.integers("axes", {0, 2, 3});
  const Tensor centred = x - mean(x, axes, true);
  return centred / (sqrt(mean(square(centred), axes, true)) + number(1e-9, x));
}

Tensor lrn(const Call& c) {
  const Tensor& x = c.in(0);
  const int64_t size = c.integer("size");
  if (rank_of(x) < 2 || size < 1) c.fail("needs channels, and a size of 1 or more");
  const int64_t before = (size - 1) / 2, after = size - 1 - before;
  Ints table(2 * static_cast<size_t>(rank_of(x)), 0);
  table[2] = before;
  table[3] = after;
  const Tensor around =
      pad(square(x), reshaped(vector_of(table), {rank_of(x), 2}), "CONSTANT", number(0, x));
  const int64_t channels = known_dim(x, 1);
  Tensor total = sliced(around, 1, 0, channels);
  for (int64_t i = 1; i < size; ++i) total = total + sliced(around, 1, i, i + channels);
  const double alpha = c.real("alpha", 1e-4) / static_cast<double>(size);
  const Tensor base = total * number(alpha, x) + number(c.real("bias", 1), x);
  return x / pow(base, number(c.real("beta", 0.75), x));
}

constexpr Entry kEntries[] = {
    {"BatchNormalization", batch_norm_node},
    {"InstanceNormalization", instance_norm},
    {"GroupNormalization", group_norm},
    {"LayerNormalization", layer_norm_node},
    {"RMSNormalization", rms_norm_node},
    {"LpNormalization", lp_norm},
    {"MeanVarianceNormalization", mean_variance_norm},
    {"LRN", lrn},
};

}  // namespace

std::span<const Entry> norm_entries() { return kEntries; }

}  // namespace tidemark::io::onnx
