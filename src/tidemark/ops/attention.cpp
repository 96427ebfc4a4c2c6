// Scaled dot-product attention as one op: its memory is linear in the lengths, since no score is
// kept; the gradient computes them again.

#include <tidemark/rows.h>

#include "tidemark/ops/gradients.h"
#include "tidemark/ops/windows.h"

namespace tidemark {

namespace {

constexpr DTypeSet kWide = dtype_set(DType::float32, DType::float64);

/// Logarithms of sums, which half types would lose.
DType wide_of(DType d) { return d == DType::float64 ? d : DType::float32; }

Shape with_last(Shape s, int64_t last) {
  s[s.rank() - 1] = last;
  return s;
}
Shape without_last(Shape s) {
  s.erase(s.rank() - 1);
  return s;
}

/// The inputs 0 to 3 fit each other. False: a rank is unknown.
bool check_inputs(InferContext& c) {
  const Shape &q = c.shape(0), &k = c.shape(1), &v = c.shape(2), &mask = c.shape(3);
  if (!q.has_rank() || !k.has_rank() || !v.has_rank()) return false;
  if (q.rank() < 2 || k.rank() != q.rank() || v.rank() != q.rank()) {
    c.fail(
        "query, key and value must have one rank of at least 2: [..., length, depth]. "
        "Received shapes: ",
        q, ", ", k, " and ", v);
  }
  Shape wanted_k = with_last(k, q.dim(-1)), wanted_v = with_last(k, v.dim(-1));
  for (int d = 0; d + 2 < q.rank(); ++d) wanted_k[d] = q[d];
  if (!may_equal(k, wanted_k) || !may_equal(v, wanted_v)) {
    c.fail(
        "key must have the batch and the depth of query, and value the batch and the length of "
        "key. Received shapes: query ",
        q, ", key ", k, ", value ", v);
  }
  if (!mask.has_rank() || mask.rank() == 0) return true;
  bool fits = mask.rank() == q.rank();
  for (int d = 0; fits && d < q.rank(); ++d) {
    const int64_t full = d + 1 == q.rank() ? k.dim(-2) : q[d];
    fits = mask[d] == 1 || mask[d] == full || mask[d] == kUnknownDim || full == kUnknownDim;
  }
  if (!fits) {
    c.fail("mask must be a scalar (none) or have the rank of query and sizes 1 or [..., ",
           q.dim(-2), ", ", k.dim(-2), "]. Received shape: ", mask, " for query ", q);
  }
  return true;
}

void attention_shape(InferContext& c) {
  if (!check_inputs(c)) {
    c.set(0, Shape::unknown());
    return c.set(1, Shape::unknown(), wide_of(c.dtype(0)));
  }
  c.set(0, with_last(c.shape(0), c.shape(2).dim(-1)));
  c.set(1, without_last(c.shape(0)), wide_of(c.dtype(0)));
}

void attention_grad_shape(InferContext& c) {
  if (check_inputs(c)) {
    const Shape y = with_last(c.shape(0), c.shape(2).dim(-1));
    if (!may_equal(c.shape(4), y) || !may_equal(c.shape(6), y) ||
        !may_equal(c.shape(5), without_last(c.shape(0)))) {
      c.fail("the result and its gradient must have shape ", y, " and log_sum_exp ",
             without_last(c.shape(0)), ". Received: ", c.shape(4), ", ", c.shape(6), " and ",
             c.shape(5));
    }
  }
  if (c.dtype(5) != wide_of(c.dtype(0))) {
    c.fail("log_sum_exp for a query of ", name_of(c.dtype(0)), " is ", name_of(wide_of(c.dtype(0))),
           ". Received: ", name_of(c.dtype(5)));
  }
  if (c.shape(7).has_rank() && c.shape(7).rank() > 0 && !may_equal(c.shape(7), c.shape(5))) {
    c.fail("dlog_sum_exp must be a scalar (none) or have the shape of log_sum_exp, ", c.shape(5),
           ". Received: ", c.shape(7));
  }
  for (int i = 0; i < 3; ++i) c.set(i, c.shape(i));
}

void attention_gradient(Grad& g) {
  if (!g.dy(0) && !g.dy(1)) return;
  const Tensor none = scalar_like(0, g.y(1));
  const Tensor dy = g.dy(0) ? g.dy(0) : g.y(0) * scalar_like(0, g.y(0));
  const Tensor inputs[] = {g.x(0), g.x(1), g.x(2), g.x(3),
                           g.y(0), g.y(1), dy,     g.dy(1) ? g.dy(1) : none};
  const std::vector<Tensor> d = call_all(
      "attention_grad", inputs, {{"scale", g.attr("scale")}, {"causal", g.attr("causal")}});
  for (int i = 0; i < 3; ++i) g.dx(i) = d[static_cast<size_t>(i)];
}

Tensor times(const Tensor& a, const Tensor& b, bool transpose_a = false, bool transpose_b = false) {
  return call("matmul", {a, b}, {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
}

/// Which keys each query sees: a scalar, or something that broadcasts with the scores.
Tensor seen_keys(const Grad& g, const Tensor& scores) {
  const Tensor& mask = g.x(3);
  if (!g.attr("causal").as_bool()) return mask;
  const Tensor all = call("ones_like", {scores}, {{"dtype", DType::bool_}});
  const Tensor before = call("band_part", {all, Tensor(int64_t{-1}), Tensor(int64_t{0})});
  return call("logical_and", {mask, before});
}

/// The gradient of attention_grad, all of whose inputs count as independent; with the scores kept,
/// unlike the ops themselves. With P = exp(s q k^T - lse) and T = P (dy v^T - D), where D is the
/// row sums of dy y less dlse:  dq = s T k,  dk = s T^T q,  dv = P^T dy.
void attention_grad_gradient(Grad& g) {
  const DType wide = g.x(5).dtype(), narrow = g.x(0).dtype();
  const auto in = [&](int i) { return cast_to(g.x(i), wide); };
  const auto weight = [&](int i) {
    return g.dy(i) ? cast_to(g.dy(i), wide) : in(i)*scalar(0, wide);
  };
  const auto column = [](const Tensor& t) { return call("expand_dims", {t}, {{"axis", -1}}); };
  const auto row_sum = [](const Tensor& t) { return call("sum", {t}, {{"axis", Ints{-1}}}); };
  const Tensor q = in(0), k = in(1), v = in(2), y = in(4), lse = in(5), dy = in(6);
  const Tensor scale = scalar(g.attr("scale").as_real(), wide);
  const Tensor scores = scale * times(q, k, false, true) - column(lse);
  const Tensor seen = seen_keys(g, scores);
  const Tensor p = zero_unless(seen, call("exp", {zero_unless(seen, scores)}));
  const bool has_dlse = !g.shape(7).has_rank() || g.shape(7).rank() > 0;  // a scalar is none
  const Tensor d = has_dlse ? row_sum(dy * y) - g.x(7) : row_sum(dy * y);
  const Tensor slope = times(dy, v, false, true) - column(d);
  const Tensor t = p * slope;
  const Tensor a = weight(0), b = weight(1), c = weight(2);
  const Tensor to_t = scale * (times(a, k, false, true) + times(q, b, false, true));
  const Tensor z = to_t * p;
  const Tensor to_scores = (to_t * slope + times(dy, c, false, true)) * p;
  const Tensor to_d = -row_sum(z);
  g.dx(0) = cast_to(scale * (times(t, b) + times(to_scores, k)), narrow);
  g.dx(1) = cast_to(scale * (times(t, a, true) + times(to_scores, q, true)), narrow);
  g.dx(2) = cast_to(times(z, dy, true), narrow);
  g.dx(4) = cast_to(column(to_d) * dy, narrow);
  g.dx(5) = -row_sum(to_scores);
  g.dx(6) = cast_to(times(z, v) + column(to_d) * y + times(p, c), narrow);
  if (has_dlse) g.dx(7) = -to_d;
}

std::optional<RowRule> attention_rows(const RowQuestion& q) {
  if (q.out().rank() < 3) return std::nullopt;
  std::vector<RowRole> inputs(q.num_inputs(), RowRole::rows);
  inputs[3] = q.broadcast(3);
  if (inputs.size() > 7 && q.in(7).rank() == 0) inputs[7] = RowRole::whole;
  return q.rows(std::move(inputs));
}

}  // namespace

TIDEMARK_OP(attention)
    .doc(
        "softmax(query * key^T * scale) * value over the last two dimensions [length, depth]. Keys "
        "where `mask` is false, or after the query when `causal`, are not seen; a query that sees "
        "none gives 0. A scalar mask is none. Also the logarithm of the sum of exp of the scores "
        "of each query.")
    .input("query", kFloats)
    .input("key", kFloats)
    .input("value", kFloats)
    .input("mask", kBool, 'M')
    .attr("scale", AttrKind::real, 1.0)
    .attr("causal", AttrKind::boolean, false)
    .output("output", like("query"))
    .output("log_sum_exp", by_rule())
    .shape(attention_shape)
    .heavy()
    .rows(attention_rows)
    .gradient(attention_gradient, keep_x(0, 1, 2, 3) | keep_y(0, 1));

TIDEMARK_OP(attention_grad)
    .doc("The gradients of attention with respect to query, key and value.")
    .input("query", kFloats)
    .input("key", kFloats)
    .input("value", kFloats)
    .input("mask", kBool, 'M')
    .input("output", kFloats)
    .input("log_sum_exp", kWide, 'S')
    .input("dy", kFloats)
    .input("dlog_sum_exp", kWide, 'S')
    .attr("scale", AttrKind::real, 1.0)
    .attr("causal", AttrKind::boolean, false)
    .output("dquery", like("query"))
    .output("dkey", like("key"))
    .output("dvalue", like("value"))
    .shape(attention_grad_shape)
    .heavy()
    .rows(attention_rows)
    .gradient(attention_grad_gradient, keep_x(0, 1, 2, 3, 4, 5, 6, 7));

}  // namespace tidemark
