// Normalisation over the last dimension, as one op each way.

#include <tidemark/rows.h>

#include "tidemark/ops/gradients.h"

namespace tidemark {

namespace {

DType wide_of(DType d) { return d == DType::float64 ? d : DType::float32; }

bool may_equal(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return true;
  if (a.rank() != b.rank()) return false;
  for (int d = 0; d < a.rank(); ++d) {
    if (a[d] != b[d] && a[d] != kUnknownDim && b[d] != kUnknownDim) return false;
  }
  return true;
}

Shape rows_of(const Shape& x) {
  if (!x.has_rank()) return x;
  Shape rows = x;
  rows.erase(rows.rank() - 1);
  return rows;
}

/// x has a last dimension, and input i is a vector of its size.
void check_vector_of_row(InferContext& c, int i, const char* name) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return;
  if (x.rank() == 0) c.fail("x must have a dimension to normalise over. Received a scalar");
  if (!may_equal(c.shape(i), Shape{x.dim(-1)})) {
    c.fail("`", name, "` must be a vector as long as the last dimension of x, ", x.dim(-1),
           ". Received shapes: ", c.shape(i), " for x of ", x);
  }
}

template <bool kCentred>
void forward_shape(InferContext& c) {
  check_vector_of_row(c, 1, "scale");
  if (kCentred) check_vector_of_row(c, 2, "offset");
  c.set(0, c.shape(0));
  for (int i = 1; i < c.num_outputs(); ++i) c.set(i, rows_of(c.shape(0)), wide_of(c.dtype(0)));
}

template <bool kCentred>
void backward_shape(InferContext& c) {
  check_vector_of_row(c, 1, "scale");
  const int dy = kCentred ? 4 : 3;
  for (int i = 2; i < dy; ++i) {
    if (!may_equal(c.shape(i), rows_of(c.shape(0))) || c.dtype(i) != wide_of(c.dtype(0))) {
      c.fail("statistics of x of shape ", c.shape(0), " are ", name_of(wide_of(c.dtype(0))), " of ",
             rows_of(c.shape(0)), ". Received: ", name_of(c.dtype(i)), " of ", c.shape(i));
    }
  }
  if (!may_equal(c.shape(dy), c.shape(0))) {
    c.fail("dy must have the shape of x, ", c.shape(0), ". Received: ", c.shape(dy));
  }
  c.set(0, c.shape(0));
  c.set(1, c.shape(1));
  if (kCentred) c.set(2, c.shape(1));
}

constexpr DTypeSet kWide = dtype_set(DType::float32, DType::float64);

Tensor as_column(const Tensor& t, DType dtype) {
  return call("expand_dims", {cast_to(t, dtype)}, {{"axis", -1}});
}

/// What flows back to x from the statistics: the tape asks for it only where somebody used them.
Tensor through_statistics(const Tensor& x, const Tensor* mean, const Tensor& rstd,
                          const Tensor& dmean, const Tensor& drstd) {
  const DType wide = rstd.dtype();
  const Tensor count = cast_to(call("size", {x}), wide) / cast_to(call("size", {rstd}), wide);
  Tensor dx;
  if (drstd) {
    const Tensor cube = rstd * rstd * rstd * drstd / count;
    const Tensor centred = mean ? cast_to(x, wide) - as_column(*mean, wide) : cast_to(x, wide);
    dx = -(centred * as_column(cube, wide));
  }
  if (dmean) {
    const Tensor share = as_column(dmean / count, wide);
    dx = dx ? dx + share : share + cast_to(x, wide) * scalar(0, wide);
  }
  return cast_to(dx, x.dtype());
}

void layer_norm_gradient(Grad& g) {
  if (g.dy(0)) {
    const Tensor inputs[] = {g.x(0), g.x(1), g.y(1), g.y(2), g.dy(0)};
    const std::vector<Tensor> d = call_all("layer_norm_grad", inputs);
    for (int i = 0; i < 3; ++i) g.dx(i) = d[static_cast<size_t>(i)];
  }
  if (!g.dy(1) && !g.dy(2)) return;
  const Tensor more = through_statistics(g.x(0), &g.y(1), g.y(2), g.dy(1), g.dy(2));
  g.dx(0) = g.dx(0) ? g.dx(0) + more : more;
}

void rms_norm_gradient(Grad& g) {
  if (g.dy(0)) {
    const Tensor inputs[] = {g.x(0), g.x(1), g.y(1), g.dy(0)};
    const std::vector<Tensor> d = call_all("rms_norm_grad", inputs);
    for (int i = 0; i < 2; ++i) g.dx(i) = d[static_cast<size_t>(i)];
  }
  if (!g.dy(1)) return;
  const Tensor more = through_statistics(g.x(0), nullptr, g.y(1), {}, g.dy(1));
  g.dx(0) = g.dx(0) ? g.dx(0) + more : more;
}

/// The gradient of layer_norm_grad and rms_norm_grad, all of whose inputs count as independent.
/// With h the normalised x, r the reciprocal deviation, p = dy scale and M the mean of a row:
///   dx = r (p - M[p] - h M[p h]),  dscale = S[dy h],  doffset = S[dy];
/// rms_norm has neither M[p] nor doffset.
template <bool kCentred>
void norm_grad_gradient(Grad& g) {
  const int at_rstd = kCentred ? 3 : 2, at_dy = at_rstd + 1;
  const DType wide = g.x(at_rstd).dtype(), narrow = g.x(0).dtype();
  const Tensor x = cast_to(g.x(0), wide), scale = cast_to(g.x(1), wide);
  const Tensor r = as_column(g.x(at_rstd), wide), dy = cast_to(g.x(at_dy), wide);
  const auto over_row = [](const char* op, const Tensor& t) {
    return call(op, {t}, {{"axis", Ints{-1}}, {"keepdims", true}});
  };
  const auto average = [&](const Tensor& t) { return over_row("mean", t); };
  const auto weight = [&](int i) {
    return g.dy(i) ? cast_to(g.dy(i), wide) : scale * scalar(0, wide);
  };
  const Tensor centred = kCentred ? x - as_column(g.x(2), wide) : x;
  const Tensor h = centred * r, p = dy * scale;
  const Tensor a = g.dy(0) ? cast_to(g.dy(0), wide) : dy * scalar(0, wide);
  const Tensor b = weight(1);
  const Tensor mean_ah = average(a * h), mean_ph = average(p * h);
  Tensor inner = p - h * mean_ph, to_p = a - h * mean_ah;
  if (kCentred) {
    inner = inner - average(p);
    to_p = to_p - average(a);
  }
  to_p = r * to_p;
  const Tensor to_h = dy * b - r * (a * mean_ph + p * mean_ah);
  const Tensor to_r = over_row("sum", a * inner + to_h * centred);
  const auto as_rows = [&](const Tensor& t) { return call("squeeze", {t}, {{"axis", Ints{-1}}}); };
  g.dx(0) = cast_to(to_h * r, narrow);
  g.dx(1) = cast_to(g.unbroadcast(dy * to_p, 1), narrow);
  if (kCentred) g.dx(2) = as_rows(-(r * over_row("sum", to_h)));
  g.dx(at_rstd) = as_rows(to_r);
  g.dx(at_dy) = cast_to(kCentred ? scale * to_p + h * b + weight(2) : scale * to_p + h * b, narrow);
}

/// The gradient of x is rows; those of what all rows share are sums over them.
std::optional<RowRule> norm_grad_rows(const RowQuestion& q) {
  if (q.in(0).rank() < 2 || !q.can_add()) return std::nullopt;
  std::vector<RowRole> inputs(q.num_inputs(), RowRole::rows);
  inputs[1] = RowRole::whole;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == RowRole::rows && !q.has_rows(q.in(i))) return std::nullopt;
  }
  std::vector<RowResult> results(q.outputs().size(), RowResult::sum);
  results[0] = RowResult::rows;
  return RowRule{std::move(inputs), std::move(results)};
}

}  // namespace

TIDEMARK_OP(layer_norm)
    .doc(
        "x normalised over its last dimension to mean 0 and variance 1, times `scale` plus "
        "`offset`. Also the mean and the reciprocal of the deviation of each row.")
    .input("x", kFloats)
    .input("scale", kFloats)
    .input("offset", kFloats)
    .attr("epsilon", AttrKind::real, 1e-5)
    .output("y", like("x"))
    .output("mean", by_rule())
    .output("rstd", by_rule())
    .shape(forward_shape<true>)
    .cheap()
    .rows(rows::first_input_of_matrices)
    .gradient(layer_norm_gradient, keep_x(0, 1) | keep_y(1, 2));

TIDEMARK_OP(layer_norm_grad)
    .doc("The gradients of layer_norm with respect to x, scale and offset.")
    .input("x", kFloats)
    .input("scale", kFloats)
    .input("mean", kWide, 'S')
    .input("rstd", kWide, 'S')
    .input("dy", kFloats)
    .output("dx", like("x"))
    .output("dscale", like("x"))
    .output("doffset", like("x"))
    .shape(backward_shape<true>)
    .rows(norm_grad_rows)
    .gradient(norm_grad_gradient<true>, keep_x(0, 1, 2, 3, 4));

TIDEMARK_OP(rms_norm)
    .doc(
        "x divided by the root of the mean square over its last dimension, times `scale`. Also the "
        "reciprocal of that root for each row.")
    .input("x", kFloats)
    .input("scale", kFloats)
    .attr("epsilon", AttrKind::real, 1e-6)
    .output("y", like("x"))
    .output("rstd", by_rule())
    .shape(forward_shape<false>)
    .cheap()
    .rows(rows::first_input_of_matrices)
    .gradient(rms_norm_gradient, keep_x(0, 1) | keep_y(1));

TIDEMARK_OP(rms_norm_grad)
    .doc("The gradients of rms_norm with respect to x and scale.")
    .input("x", kFloats)
    .input("scale", kFloats)
    .input("rstd", kWide, 'S')
    .input("dy", kFloats)
    .output("dx", like("x"))
    .output("dscale", like("x"))
    .shape(backward_shape<false>)
    .rows(norm_grad_rows)
    .gradient(norm_grad_gradient<false>, keep_x(0, 1, 2, 3));

}  // namespace tidemark
