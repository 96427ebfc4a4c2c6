// Normalisation of each channel over everything else, as one op each way.

#include "tidemark/ops/gradients.h"

namespace tidemark {

namespace {

DType wide_of(DType d) { return d == DType::float64 ? d : DType::float32; }

/// x has channels in its last dimension, and input i is a vector with one number for each.
void check_channels(InferContext& c, int i) {
  const Shape &x = c.shape(0), &given = c.shape(i);
  if (!x.has_rank()) return;
  if (x.rank() == 0) c.fail("x must have a dimension of channels. Received a scalar");
  const std::string& name = c.call().op.input_param(i).name;
  const bool fits = !given.has_rank() ||
                    (given.rank() == 1 && (given[0] == x.dim(-1) || given[0] == kUnknownDim ||
                                           x.dim(-1) == kUnknownDim));
  if (!fits) {
    c.fail("`", name, "` must be a vector as long as the last dimension of x, ", x.dim(-1),
           ". Received shapes: ", given, " for x of ", x);
  }
  if (c.dtype(i) != wide_of(c.dtype(0))) {
    c.fail("`", name, "` of x in ", name_of(c.dtype(0)), " is ", name_of(wide_of(c.dtype(0))),
           ". Received: ", name_of(c.dtype(i)));
  }
}

void forward_rule(InferContext& c) {
  check_channels(c, 1);
  check_channels(c, 2);
  c.set(0, c.shape(0));
  c.set(1, c.shape(1), wide_of(c.dtype(0)));
  c.set(2, c.shape(1), wide_of(c.dtype(0)));
}

void backward_rule(InferContext& c) {
  for (int i = 1; i < 4; ++i) check_channels(c, i);
  if (c.shape(0).is_fully_known() && c.shape(4).is_fully_known() && c.shape(4) != c.shape(0)) {
    c.fail("dy must have the shape of x, ", c.shape(0), ". Received: ", c.shape(4));
  }
  c.set(0, c.shape(0));
  c.set(1, c.shape(1));
  c.set(2, c.shape(1));
}

/// What flows back to x from the statistics, where somebody used them.
Tensor through_statistics(const Grad& g) {
  const Tensor &x = g.x(0), &mean = g.y(1);
  const DType wide = mean.dtype();
  const Tensor count = cast_to(call("size", {x}), wide) / cast_to(call("size", {mean}), wide);
  const Tensor wide_x = cast_to(x, wide);
  Tensor dx = wide_x * scalar(0, wide);
  if (g.dy(1)) dx = dx + g.dy(1) / count;
  if (g.dy(2)) dx = dx + (wide_x - mean) * (scalar(2, wide) * g.dy(2) / count);
  return cast_to(dx, x.dtype());
}

void batch_norm_gradient(Grad& g) {
  if (g.dy(0)) {
    const Tensor inputs[] = {g.x(0), g.x(1), g.y(1), g.y(2), g.dy(0)};
    const std::vector<Tensor> d =
        call_all("batch_norm_grad", inputs, {{"epsilon", g.attr("epsilon")}});
    for (int i = 0; i < 3; ++i) g.dx(i) = d[static_cast<size_t>(i)];
  }
  if (!g.dy(1) && !g.dy(2)) return;
  const Tensor more = through_statistics(g);
  g.dx(0) = g.dx(0) ? g.dx(0) + more : more;
}

/// The gradient of batch_norm_grad, all of whose inputs count as independent. With h the normalised
/// x, r the reciprocal deviation and M the mean over everything but the channels:
///   dx = scale r (dy - M[dy] - h M[dy h]),  dscale = S[dy h],  doffset = S[dy].
void batch_norm_grad_gradient(Grad& g) {
  const DType wide = g.x(1).dtype(), narrow = g.x(0).dtype();
  const Tensor x = cast_to(g.x(0), wide), dy = cast_to(g.x(4), wide);
  const Tensor &scale = g.x(1), &mean = g.x(2), &variance = g.x(3);
  const Tensor count = cast_to(call("size", {x}), wide) / cast_to(call("size", {mean}), wide);
  const auto sum = [&](const Tensor& t) { return g.unbroadcast(t, 1); };
  const auto average = [&](const Tensor& t) { return sum(t) / count; };
  const Tensor r = call("rsqrt", {variance + scalar(g.attr("epsilon").as_real(), wide)});
  const Tensor centred = x - mean, h = centred * r;
  const Tensor zero = dy * scalar(0, wide);
  const Tensor a = g.dy(0) ? cast_to(g.dy(0), wide) : zero;
  const Tensor b = g.dy(1) ? g.dy(1) : scale * scalar(0, wide);
  const Tensor c = g.dy(2) ? g.dy(2) : scale * scalar(0, wide);
  const Tensor mean_ah = average(a * h), mean_gh = average(dy * h);
  const Tensor through = sum(a * (dy - average(dy) - h * mean_gh));  // of dx, but scale r
  const Tensor to_h = dy * (b - scale * r * mean_ah) - a * (scale * r * mean_gh);
  g.dx(0) = cast_to(to_h * r, narrow);
  g.dx(1) = r * through;
  g.dx(2) = -(r * sum(to_h));
  const Tensor to_r = scale * through + sum(to_h * centred);
  g.dx(3) = to_r * r * r * r * scalar(-0.5, wide);
  g.dx(4) = cast_to((a - average(a) - h * mean_ah) * (scale * r) + h * b + c, narrow);
}

constexpr DTypeSet kWide = dtype_set(DType::float32, DType::float64);

}  // namespace

TIDEMARK_OP(batch_norm)
    .doc(
        "x with each channel (of its last dimension) normalised to mean 0 and variance 1, times "
        "`scale` plus `offset`. Also the channels' means and variances.")
    .input("x", kFloats)
    .input("scale", kWide, 'S')
    .input("offset", kWide, 'S')
    .attr("epsilon", AttrKind::real, 1e-3)
    .output("y", like("x"))
    .output("mean", by_rule())
    .output("variance", by_rule())
    .shape(forward_rule)
    .gradient(batch_norm_gradient, keep_x(0, 1) | keep_y(1, 2));

TIDEMARK_OP(batch_norm_grad)
    .doc("The gradients of batch_norm.")
    .input("x", kFloats)
    .input("scale", kWide, 'S')
    .input("mean", kWide, 'S')
    .input("variance", kWide, 'S')
    .input("dy", kFloats)
    .attr("epsilon", AttrKind::real, 1e-3)
    .output("dx", like("x"))
    .output("dscale", like("scale"))
    .output("doffset", like("scale"))
    .shape(backward_rule)
    .gradient(batch_norm_grad_gradient, keep_x(0, 1, 2, 3, 4));

}  // namespace tidemark
