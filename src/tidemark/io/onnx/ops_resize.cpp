// Resize and Upsample: each dimension by itself, from places and weights that the sizes decide.
#include <algorithm>
#include <cmath>
#include <memory>

#include "tidemark/io/onnx/sampling.h"

namespace tidemark::io::onnx {

namespace {

struct Options {
  std::string mode, coordinates, nearest;
  double cubic_a = -0.75, extrapolation = 0;
  bool exclude_outside = false, antialias = false;
};

/// One dimension to be resized.
struct Axis {
  int number = 0;
  int64_t in = 0, out = 0;
  double scale = 1, roi_start = 0, roi_end = 1;
};

double place_of(const Options& o, const Axis& a, int64_t at) {
  const auto x = static_cast<double>(at), in = static_cast<double>(a.in),
             out = static_cast<double>(a.out);
  if (o.coordinates == "asymmetric") return x / a.scale;
  if (o.coordinates == "align_corners") {
    return a.out == 1 ? 0 : x * (in - 1) / (a.scale * in - 1);
  }
  if (o.coordinates == "tf_crop_and_resize") {
    if (a.out == 1) return 0.5 * (a.roi_start + a.roi_end) * (in - 1);
    return a.roi_start * (in - 1) + x * (a.roi_end - a.roi_start) * (in - 1) / (out - 1);
  }
  if (o.coordinates == "pytorch_half_pixel") return a.out == 1 ? -0.5 : (x + 0.5) / a.scale - 0.5;
  const double half = (x + 0.5) / a.scale - 0.5;
  if (o.coordinates != "half_pixel_symmetric") return half;
  const double adjustment = out / (a.scale * in);
  return in / 2 * (1 - adjustment) + half;
}

int64_t nearest_of(const Options& o, double x) {
  if (o.nearest == "floor") return static_cast<int64_t>(std::floor(x));
  if (o.nearest == "ceil") return static_cast<int64_t>(std::ceil(x));
  if (o.nearest == "round_prefer_ceil") return static_cast<int64_t>(std::floor(x + 0.5));
  return static_cast<int64_t>(std::ceil(x - 0.5));
}

/// Which pixels make each new one, and by how much: `count` taps each.
struct Taps {
  int64_t count = 0;
  Ints indices;                // [count, out]
  std::vector<float> weights;  // [count, out]
};

Taps taps_of(const Options& o, const Axis& a) {
  const bool is_cubic = o.mode == "cubic";
  const double shrink = o.antialias ? std::min(a.scale, 1.0) : 1.0;
  const double reach = is_cubic ? 2 : 1;
  const auto half = static_cast<int64_t>(std::ceil(reach / shrink));
  Taps t{2 * half, {}, {}};
  const auto out = static_cast<size_t>(a.out), count = static_cast<size_t>(t.count);
  t.indices.resize(count * out);
  t.weights.resize(count * out);
  for (size_t i = 0; i < out; ++i) {
    const double x = place_of(o, a, static_cast<int64_t>(i));
    const double low = std::floor(x);
    std::vector<double> weights(count);
    double total = 0;
    for (size_t k = 0; k < count; ++k) {
      const double at = low + static_cast<double>(static_cast<int64_t>(k) - half + 1);
      const double distance = std::abs((at - x) * shrink);
      double w = is_cubic ? cubic_weight(distance, o.cubic_a) : std::max(1 - distance, 0.0);
      if (o.exclude_outside && (at < 0 || at > static_cast<double>(a.in - 1))) w = 0;
      weights[k] = w;
      total += w;
      t.indices[k * out + i] = std::clamp(static_cast<int64_t>(at), int64_t{0}, a.in - 1);
    }
    for (size_t k = 0; k < count; ++k) {
      t.weights[k * out + i] = static_cast<float>(weights[k] / (total == 0 ? 1 : total));
    }
  }
  return t;
}

Tensor resized_along(const Tensor& x, const Options& o, const Axis& a) {
  const int rank = rank_of(x);
  if (o.mode == "nearest") {
    Ints from;
    for (int64_t i = 0; i < a.out; ++i) {
      from.push_back(std::clamp(nearest_of(o, place_of(o, a, i)), int64_t{0}, a.in - 1));
    }
    return gather(x, vector_of(from), std::nullopt, a.number);
  }
  const Taps taps = taps_of(o, a);
  Tensor total;
  for (int64_t k = 0; k < taps.count; ++k) {
    const auto first = static_cast<size_t>(k * a.out), size = static_cast<size_t>(a.out);
    const Tensor pixels =
        gather(x, vector_of(std::span(taps.indices).subspan(first, size)), std::nullopt, a.number);
    const Tensor weights =
        Tensor::of<float>(std::span(taps.weights).subspan(first, size), Shape{a.out});
    const Tensor part = pixels * as(per_channel(weights, rank, a.number), x.dtype());
    total = total ? total + part : part;
  }
  return total;
}

Tensor resized_all(const Tensor& given, const Options& o, std::span<const Axis> axes) {
  const bool is_whole = o.mode != "nearest" && is_integer(given.dtype());
  Tensor x = is_whole ? as(given, DType::float32) : given;
  for (const Axis& a : axes) {
    if (a.in == a.out && a.scale == 1 && o.coordinates != "tf_crop_and_resize") continue;
    x = resized_along(x, o, a);
  }
  if (o.coordinates == "tf_crop_and_resize") {
    for (const Axis& a : axes) {
      std::unique_ptr<bool[]> outside(new bool[static_cast<size_t>(a.out)]);
      for (int64_t i = 0; i < a.out; ++i) {
        const double at = place_of(o, a, i);
        outside[static_cast<size_t>(i)] = at < 0 || at > static_cast<double>(a.in - 1);
      }
      const Tensor mask = Tensor::of<bool>(
          std::span<const bool>(outside.get(), static_cast<size_t>(a.out)), Shape{a.out});
      x = select(per_channel(mask, rank_of(x), a.number), number(o.extrapolation, x), x);
    }
  }
  return is_whole ? as(rint(x), given.dtype()) : x;
}

/// Scales out of wanted sizes, all alike where the proportions are to be kept.
void scale_to_sizes(const Call& c, std::vector<Axis>& axes, const Ints& sizes) {
  const std::string policy = c.text("keep_aspect_ratio_policy", "stretch");
  if (sizes.size() != axes.size()) c.fail("needs one size an axis");
  double common = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    Axis& a = axes[i];
    a.out = sizes[i];
    a.scale = static_cast<double>(a.out) / static_cast<double>(a.in);
    const bool is_better = policy == "not_larger" ? a.scale < common : a.scale > common;
    if (i == 0 || is_better) common = a.scale;
  }
  if (policy == "stretch") return;
  for (Axis& a : axes) {
    a.scale = common;
    a.out = static_cast<int64_t>(std::floor(common * static_cast<double>(a.in) + 0.5));
  }
}

std::vector<double> reals_of(const Call& c, size_t input) {
  const Tensor& t = c.in(input);
  if (t.is_symbolic()) fail_unknown(c, "its scales");
  const NoHandlers now;
  const Tensor wide = as(t, DType::float64);
  const auto values = wide.values<double>();
  return {values.begin(), values.end()};
}

void scale_by(const Call& c, std::vector<Axis>& axes, const std::vector<double>& scales) {
  if (scales.size() != axes.size()) c.fail("needs one scale an axis");
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!(scales[i] > 0)) c.fail("scales must be positive");
    c.check_listed(static_cast<double>(axes[i].in) * scales[i]);
    axes[i].scale = scales[i];
    axes[i].out = static_cast<int64_t>(std::floor(static_cast<double>(axes[i].in) * scales[i]));
  }
}

std::vector<Axis> axes_of(const Call& c, const Tensor& x) {
  Ints numbers = c.integers("axes", {});
  if (numbers.empty()) {
    for (int i = 0; i < rank_of(x); ++i) numbers.push_back(i);
  }
  std::vector<Axis> out;
  for (const int64_t given : numbers) {
    const int axis = axis_of(given, rank_of(x));
    const int64_t size = known_dim(x, axis);
    out.push_back({axis, size, size});
  }
  return out;
}

/// Every new pixel is listed, with those it is made of.
void check_sizes(const Call& c, const Options& o, std::span<const Axis> axes) {
  for (const Axis& a : axes) {
    if (a.in < 1 && a.out > 0) c.fail("makes pixels out of none");
    const double taps = o.antialias && a.scale < 1 ? 4 / a.scale : 4;
    c.check_listed(taps * static_cast<double>(a.out));
  }
}

Tensor resize(const Call& c) {
  const Tensor& x = c.in(0);
  std::vector<Axis> axes = axes_of(c, x);
  Options o{c.text("mode", "nearest"),
            c.text("coordinate_transformation_mode", "half_pixel"),
            c.text("nearest_mode", "round_prefer_floor"),
            c.real("cubic_coeff_a", -0.75),
            c.real("extrapolation_value", 0),
            c.integer("exclude_outside", 0) != 0,
            c.integer("antialias", 0) != 0};
  if (c.version < 11) {
    o.coordinates = "asymmetric";
    o.nearest = "floor";
    scale_by(c, axes, reals_of(c, 1));
    check_sizes(c, o, axes);
    return resized_all(x, o, axes);
  }
  const bool has_scales = c.has(2) && c.in(2).num_elements() != 0;
  if (has_scales) {
    scale_by(c, axes, reals_of(c, 2));
  } else if (c.has(3)) {
    scale_to_sizes(c, axes, c.ints(3));
  } else {
    c.fail("needs scales or sizes");
  }
  check_sizes(c, o, axes);
  if (o.coordinates == "tf_crop_and_resize") {
    const std::vector<double> roi = reals_of(c, 1);
    if (roi.size() != 2 * axes.size()) c.fail("needs a beginning and an end of each axis in roi");
    for (size_t i = 0; i < axes.size(); ++i) {
      axes[i].roi_start = roi[i];
      axes[i].roi_end = roi[i + axes.size()];
    }
  }
  return resized_all(x, o, axes);
}

Tensor upsample(const Call& c) {
  const Tensor& x = c.in(0);
  std::vector<Axis> axes = axes_of(c, x);
  Options o{c.text("mode", "nearest"), "asymmetric", "floor"};
  if (o.mode == "bilinear") o.mode = "linear";
  if (c.version >= 9) {
    scale_by(c, axes, reals_of(c, 1));
  } else {
    const Attribute* scales = c.attr("scales");
    if (!scales) c.fail("needs scales");
    scale_by(c, axes, {scales->reals.begin(), scales->reals.end()});
  }
  return resized_all(x, o, axes);
}

constexpr Entry kEntries[] = {
    {"Resize", resize},
    {"Upsample", upsample},
};

}  // namespace

std::span<const Entry> resize_entries() { return kEntries; }

}  // namespace tidemark::io::onnx
