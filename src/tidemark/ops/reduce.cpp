// Reductions over axes.

#include <tidemark/call.h>
#include <tidemark/rows.h>

#include "tidemark/ops/axes.h"

namespace tidemark {

namespace {

/// By the op, so that gradients of gradients see it.
Tensor reshaped(const Tensor& t, const Shape& shape) {
  return call("reshape", {t, Tensor::of(shape.dims(), {shape.rank()})});
}

/// `t`, a result or its gradient, with the reduced dimensions put back as size 1.
Tensor with_kept_dims(const Grad& g, const Tensor& t) {
  if (g.attr("keepdims").as_bool()) return t;
  bool flags[Shape::kMaxRank];
  mark_axes("gradient", g.attr("axis"), g.shape(0).rank(), flags);
  return reshaped(t, reduced_shape(g.shape(0), flags, true));
}

/// How many elements each result was made of.
double elements_per_result(const Grad& g) {
  bool flags[Shape::kMaxRank];
  mark_axes("gradient", g.attr("axis"), g.shape(0).rank(), flags);
  double count = 1;
  for (int d = 0; d < g.shape(0).rank(); ++d) {
    if (flags[d]) count *= static_cast<double>(g.shape(0)[d]);
  }
  return count;
}

Tensor scalar_like(const Tensor& t, double value) {
  return call("cast", {Tensor(value)}, {{"dtype", t.dtype()}});
}

Tensor broadcast_to_input(const Grad& g, const Tensor& t) {
  const Ints dims(g.shape(0).begin(), g.shape(0).end());
  const Tensor shape = Tensor::of(std::span<const int64_t>(dims), {g.shape(0).rank()});
  return call("broadcast_to", {with_kept_dims(g, t), shape});
}

void sum_gradient(Grad& g) { g.dx(0) = broadcast_to_input(g, g.dy()); }

void mean_gradient(Grad& g) {
  g.dx(0) = broadcast_to_input(g, g.dy() / scalar_like(g.dy(), elements_per_result(g)));
}

/// Every element that equals the extreme gets an equal share.
void extreme_gradient(Grad& g) {
  const Tensor y = with_kept_dims(g, g.y());
  const Tensor hits = call("cast", {call("equal", {g.x(), y})}, {{"dtype", g.x().dtype()}});
  const Tensor count = call("sum", {hits}, {{"axis", g.attr("axis")}, {"keepdims", true}});
  g.dx(0) = hits * (with_kept_dims(g, g.dy()) / count);
}

/// The product of the others, by products of what lies before and after: right with zeros too.
void prod_gradient(Grad& g) {
  const int rank = g.shape(0).rank();
  bool flags[Shape::kMaxRank];
  mark_axes("gradient", g.attr("axis"), rank, flags);
  Ints order, back(static_cast<size_t>(rank));
  Shape grouped{1, 1};
  for (const bool reduced : {false, true}) {
    for (int d = 0; d < rank; ++d) {
      if (flags[d] != reduced) continue;
      grouped[reduced ? 1 : 0] *= g.shape(0)[d];
      back[static_cast<size_t>(d)] = static_cast<int64_t>(order.size());
      order.push_back(d);
    }
  }
  const Tensor moved = call("transpose", {g.x()}, {{"perm", order}});
  const Tensor rows = reshaped(moved, grouped);
  const auto products = [&](bool reverse) {
    return call("cumprod", {rows}, {{"axis", 1}, {"exclusive", true}, {"reverse", reverse}});
  };
  const Tensor others = reshaped(products(false) * products(true), moved.shape());
  g.dx(0) = call("transpose", {others}, {{"perm", back}}) * with_kept_dims(g, g.dy());
}

void logsumexp_gradient(Grad& g) {
  // Where the result is infinite its softmax is taken at 0, as TensorFlow's.
  const Tensor y = with_kept_dims(g, g.y());
  const Tensor finite = call("is_finite", {y});
  const Tensor shift = call("select", {finite, y, scalar_like(y, 0)});
  g.dx(0) = call("exp", {g.x() - shift}) * with_kept_dims(g, g.dy());
}

void norm_gradient(Grad& g) { g.dx(0) = g.x() * with_kept_dims(g, g.dy() / g.y()); }

Tensor centered(Grad& g) {
  return g.x() - call("mean", {g.x()}, {{"axis", g.attr("axis")}, {"keepdims", true}});
}

/// A real gradient beside complex elements.
Tensor like_elements(const Tensor& t, DType dtype) {
  return t.dtype() == dtype ? t : call("cast", {t}, {{"dtype", dtype}});
}

void variance_gradient(Grad& g) {
  const Tensor scale = with_kept_dims(g, g.dy()) * scalar_like(g.dy(), 2 / elements_per_result(g));
  g.dx(0) = centered(g) * like_elements(scale, g.x().dtype());
}

void std_gradient(Grad& g) {
  const Tensor scale =
      with_kept_dims(g, g.dy() / g.y()) * scalar_like(g.dy(), 1 / elements_per_result(g));
  g.dx(0) = centered(g) * like_elements(scale, g.x().dtype());
}

}  // namespace

namespace {

/// How TensorFlow's reductions take what ours do.
constexpr const char* kTheirInputs = "input_tensor axis";
constexpr const char* kTheirAttrs = "keep_dims=keepdims";

/// What all reductions share; the definition goes on where this ends.
OpDef&& reduction(OpDef&& op, ReductionKind kind, Literal what, DTypeSet dtypes, OutputType type) {
  return std::move(op)
      .doc(what,
           " over the dimensions in `axis` (all of them when it is None). `keepdims` keeps these "
           "with size 1.")
      .input("input_tensor", dtypes)
      .optional_attr("axis", AttrKind::ints)
      .attr("keepdims", AttrKind::boolean, false)
      .output("output", std::move(type))
      .shape(reduction_shape_rule)
      .reduction(kind)
      .rows(rows::reduction);
}

}  // namespace

#define TIDEMARK_REDUCTION(name, kind, what, dtypes, type)               \
  [[maybe_unused]] static const detail::OpRegistrar tidemark_op_##name = \
      reduction(OpDef(#name), ReductionKind::kind, what, dtypes, type)

TIDEMARK_REDUCTION(sum, sum, "Sum", kNumeric, like("input_tensor"))
    .python("tf.reduce_sum", "tf.math.reduce_sum")
    .tensorflow("Sum", kTheirInputs, kTheirAttrs)
    .onnx("ReduceSum", kTheirInputs, "keepdims")
    .gradient(sum_gradient);
TIDEMARK_REDUCTION(mean, mean, "Mean (integers divide and truncate)", kNumeric,
                   like("input_tensor"))
    .python("tf.reduce_mean", "tf.math.reduce_mean")
    .tensorflow("Mean", kTheirInputs, kTheirAttrs)
    .onnx("ReduceMean", kTheirInputs, "keepdims")
    .gradient(mean_gradient);
TIDEMARK_REDUCTION(prod, product, "Product", kNumeric, like("input_tensor"))
    .python("tf.reduce_prod", "tf.math.reduce_prod")
    .tensorflow("Prod", kTheirInputs, kTheirAttrs)
    .onnx("ReduceProd", kTheirInputs, "keepdims")
    .gradient(prod_gradient, keep_x(0));
TIDEMARK_REDUCTION(min, minimum, "Least element (NaN wins)", kReal, like("input_tensor"))
    .python("tf.reduce_min", "tf.math.reduce_min")
    .tensorflow("Min", kTheirInputs, kTheirAttrs)
    .onnx("ReduceMin", kTheirInputs, "keepdims")
    .gradient(extreme_gradient, keep_x(0) | keep_y(0));
TIDEMARK_REDUCTION(max, maximum, "Greatest element (NaN wins)", kReal, like("input_tensor"))
    .python("tf.reduce_max", "tf.math.reduce_max")
    .tensorflow("Max", kTheirInputs, kTheirAttrs)
    .onnx("ReduceMax", kTheirInputs, "keepdims")
    .gradient(extreme_gradient, keep_x(0) | keep_y(0));
TIDEMARK_REDUCTION(any, logical, "Whether some element is true", kBool, like("input_tensor"))
    .python("tf.reduce_any", "tf.math.reduce_any")
    .tensorflow("Any", kTheirInputs, kTheirAttrs)
    .no_gradient();
TIDEMARK_REDUCTION(all, logical, "Whether all elements are true", kBool, like("input_tensor"))
    .python("tf.reduce_all", "tf.math.reduce_all")
    .tensorflow("All", kTheirInputs, kTheirAttrs)
    .no_gradient();
TIDEMARK_REDUCTION(logsumexp, other, "log(sum(exp(x))), without overflow on the way,", kFloats,
                   like("input_tensor"))
    .python("tf.reduce_logsumexp", "tf.math.reduce_logsumexp")
    .onnx("ReduceLogSumExp", kTheirInputs, "keepdims")
    .gradient(logsumexp_gradient, keep_x(0) | keep_y(0));
TIDEMARK_REDUCTION(variance, other, "Mean squared distance from the mean", kInexact,
                   real_of("input_tensor"))
    .python("tf.math.reduce_variance")
    .gradient(variance_gradient, keep_x(0));
TIDEMARK_REDUCTION(std, other, "Square root of the variance", kInexact, real_of("input_tensor"))
    .python("tf.math.reduce_std")
    .gradient(std_gradient, keep_x(0) | keep_y(0));
TIDEMARK_REDUCTION(euclidean_norm, other, "Square root of the sum of squared magnitudes", kNumeric,
                   like("input_tensor"))
    .python("tf.math.reduce_euclidean_norm")
    .tensorflow("EuclideanNorm", kTheirInputs, kTheirAttrs)
    .onnx("ReduceL2", kTheirInputs, "keepdims")
    .gradient(norm_gradient, keep_x(0) | keep_y(0));

}  // namespace tidemark
