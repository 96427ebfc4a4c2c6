// Reductions, and positions of extremes.
#include "tidemark/io/onnx/build.h"

namespace tidemark::io::onnx {

namespace {

using Axes = std::optional<Ints>;
using Reduce = Tensor (*)(const Tensor&, Axes, bool);

/// Axes came as an attribute first, then as an input: for sums from opset 13, for the others from
/// 18. Either way they may be left out.
Axes axes_of(const Call& c) {
  if (c.has(1)) {
    Ints axes = c.ints(1);
    if (axes.empty()) return std::nullopt;
    return axes;
  }
  Axes axes = c.integers("axes");
  if (axes && axes->empty()) return std::nullopt;
  return axes;
}

template <Reduce reduce>
Tensor reduction(const Call& c) {
  const Axes axes = axes_of(c);
  if (!axes && c.integer("noop_with_empty_axes", 0)) return c.in(0);
  return reduce(c.in(0), axes, c.integer("keepdims", 1) != 0);
}

/// A function of each element, then a reduction, then a function of the result. With no axes and
/// noop_with_empty_axes nothing is reduced, but the functions hold.
template <Tensor (*before)(const Tensor&), Tensor (*after)(const Tensor&)>
Tensor reduction_of(const Call& c) {
  const Axes axes = axes_of(c);
  const Tensor x = before(c.in(0));
  if (!axes && c.integer("noop_with_empty_axes", 0)) return after(x);
  return after(sum(x, axes, c.integer("keepdims", 1) != 0));
}

Tensor same(const Tensor& x) { return x; }

/// Also of bools, as whether any or all are true.
template <Reduce of_numbers, Reduce of_bools>
Tensor extreme(const Call& c) {
  if (c.in(0).dtype() == DType::bool_) return reduction<of_bools>(c);
  return reduction<of_numbers>(c);
}

template <Tensor (*find)(const Tensor&, std::optional<int64_t>, DType)>
Tensor position(const Call& c) {
  const Tensor& x = c.in(0);
  const int axis = axis_of(c.integer("axis", 0), rank_of(x));
  Tensor out;
  if (c.integer("select_last_index", 0)) {
    out = as(dim_of(x, axis), DType::int64) - Tensor(int64_t{1}) -
          find(reverse(x, Ints{axis}), axis, DType::int64);
  } else {
    out = find(x, axis, DType::int64);
  }
  return c.integer("keepdims", 1) ? expand_dims(out, axis) : out;
}

constexpr Entry kEntries[] = {
    {"ReduceSum", reduction<sum>},
    {"ReduceMean", reduction<mean>},
    {"ReduceProd", reduction<prod>},
    {"ReduceMin", extreme<min, all>},
    {"ReduceMax", extreme<max, any>},
    {"ReduceLogSumExp", reduction<logsumexp>},
    {"ReduceL1", reduction_of<abs, same>},
    {"ReduceL2", reduction_of<square, sqrt>},
    {"ReduceSumSquare", reduction_of<square, same>},
    {"ReduceLogSum", reduction_of<same, log>},
    {"ArgMax", position<argmax>},
    {"ArgMin", position<argmin>},
};

}  // namespace

std::span<const Entry> reduce_entries() { return kEntries; }

}  // namespace tidemark::io::onnx
