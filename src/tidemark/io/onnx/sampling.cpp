#include "tidemark/io/onnx/sampling.h"

#include <cmath>

namespace tidemark::io::onnx {

namespace {

/// A pixel's place along one dimension, its weight, and whether it lies inside.
struct Tap {
  Tensor index, weight;  // int64; empty weight: 1
};

Tensor reflected(const Tensor& x, const Tensor& size, bool at_centers) {
  const Tensor low = number(at_centers ? 0 : -0.5, x);
  const Tensor length = as(size, x.dtype()) - number(at_centers ? 1 : 0, x);
  const Tensor safe = maximum(length, number(1e-6, x));
  const Tensor phase = floormod(x - low, safe * number(2, x));
  return low + minimum(phase, safe * number(2, x) - phase);
}

Tensor bounded(const Tensor& x, const Tensor& size, const Sampling& how) {
  if (how.outside == Outside::zeros) return x;
  const Tensor last = as(size, x.dtype()) - number(1, x);
  if (how.outside == Outside::reflection) {
    const Tensor inside = reflected(x, size, how.align_corners);
    return minimum(maximum(inside, number(0, x)), last);
  }
  return minimum(maximum(x, number(0, x)), last);
}

/// The tap at a whole number, moved inside or weighted by 0 as the padding says.
Tap tap_at(const Tensor& at, Tensor weight, const Tensor& size, const Sampling& how) {
  const Tensor last = as(size, at.dtype()) - number(1, at);
  const Tensor placed =
      how.outside == Outside::reflection ? reflected(at, size, how.align_corners) : at;
  const Tensor safe = minimum(maximum(placed, number(0, at)), last);
  if (how.outside == Outside::zeros) {
    const Tensor is_inside = logical_and(greater_equal(at, number(0, at)), less_equal(at, last));
    const Tensor here = as(is_inside, at.dtype());
    weight = weight ? weight * here : here;
  }
  return {as(rint(safe), DType::int64), weight};
}

std::vector<Tap> taps_of(const Tensor& place, const Tensor& size, const Sampling& how) {
  if (how.interpolation == Interpolation::nearest) {
    return {tap_at(rint(bounded(place, size, how)), {}, size, how)};
  }
  std::vector<Tap> out;
  if (how.interpolation == Interpolation::linear) {
    const Tensor x = bounded(place, size, how);
    const Tensor low = floor(x), part = x - low;
    out.push_back(tap_at(low, number(1, x) - part, size, how));
    out.push_back(tap_at(low + number(1, x), part, size, how));
    return out;
  }
  const Tensor low = floor(place), part = place - low;
  for (int k = -1; k <= 2; ++k) {
    const Tensor distance = abs(part - number(k, place));
    out.push_back(tap_at(low + number(k, place), cubic_weight(distance, -0.75), size, how));
  }
  return out;
}

}  // namespace

double cubic_weight(double distance, double a) {
  const double d = std::abs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

Tensor cubic_weight(const Tensor& d, double a) {
  const auto n = [&](double value) { return number(value, d); };
  const Tensor near = ((n(a + 2) * d - n(a + 3)) * d) * d + n(1);
  const Tensor far = ((n(a) * d - n(5 * a)) * d + n(8 * a)) * d - n(4 * a);
  return select(less_equal(d, n(1)), near, select(less(d, n(2)), far, zeros_like(d)));
}

Tensor sampled(const Tensor& images, std::span<const Tensor> places, const Sampling& how) {
  std::vector<std::vector<Tap>> taps;
  size_t combinations = 1;
  for (size_t d = 0; d < places.size(); ++d) {
    taps.push_back(taps_of(places[d], dim_of(images, static_cast<int>(d) + 1), how));
    combinations *= taps.back().size();
  }
  Tensor total;
  for (size_t combination = 0; combination < combinations; ++combination) {
    std::vector<Tensor> index;
    Tensor weight;
    size_t rest = combination;
    for (const std::vector<Tap>& along : taps) {
      const Tap& tap = along[rest % along.size()];
      rest /= along.size();
      index.push_back(tap.index);
      if (tap.weight) weight = weight ? weight * tap.weight : tap.weight;
    }
    Tensor pixel = gather_nd(images, stack(index, -1), 1);
    if (weight) pixel = pixel * as(expand_dims(weight, -1), pixel.dtype());
    total = total ? total + pixel : pixel;
  }
  return total;
}

}  // namespace tidemark::io::onnx
