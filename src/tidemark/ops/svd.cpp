// Singular values and vectors.
#include <algorithm>

#include "tidemark/ops/gradients.h"
#include "tidemark/ops/linalg.h"
#include "tidemark/ops/movement.h"

namespace tidemark {

namespace {

using namespace matrices;
using movement::dy_or_zeros;

int64_t smaller(int64_t a, int64_t b) {
  return a == kUnknownDim || b == kUnknownDim ? kUnknownDim : std::min(a, b);
}

Shape with_matrix(const Shape& like, int64_t rows, int64_t columns) {
  Shape out = leading(like, 2);
  out.push_back(rows);
  out.push_back(columns);
  return out;
}

void svd_rule(InferContext& c) {
  check_matrix(c, 0, false);
  const Shape& s = c.shape(0);
  const DType real = c.dtype(0) == DType::complex64    ? DType::float32
                     : c.dtype(0) == DType::complex128 ? DType::float64
                                                       : c.dtype(0);
  if (!s.has_rank()) {
    c.set(0, s, real);
    c.set(1, s);
    c.set(2, s);
    return;
  }
  const int64_t m = s.dim(-2), n = s.dim(-1), p = smaller(m, n);
  Shape values = leading(s, 2);
  values.push_back(p);
  c.set(0, values, real);
  if (!c.attr("compute_uv").as_bool()) {
    c.set(1, Shape{0});
    c.set(2, Shape{0});
    return;
  }
  const bool full = c.attr("full_matrices").as_bool();
  c.set(1, with_matrix(s, m, full ? m : p));
  c.set(2, with_matrix(s, n, full ? n : p));
}

/// 1 / (x_j - x_i), 0 on the diagonal. Equal values give 0, as if they did not mix.
Tensor reciprocal_differences(const Tensor& x) {
  const Tensor differences = as_row(x) - as_column(x);
  return call("divide_no_nan", {scalar_like(1, x), differences});
}

Tensor skew_part(const Tensor& t) { return t - adjoint(t); }

/// Of the vectors: how they turn inside of their span and how they leave it.
Tensor svd_vectors_gradient(Grad& g, const Tensor& s) {
  const Tensor &u = g.y(1), &v = g.y(2);
  const Tensor du = dy_or_zeros(g, 1), dv = dy_or_zeros(g, 2);
  const Tensor f = cast_to(reciprocal_differences(call("square", {g.y(0)})), u.dtype());
  const Tensor u_du = product(u, du, true), v_dv = product(v, dv, true);
  const Tensor middle = f * skew_part(u_du) * as_row(s) + as_column(s) * (f * skew_part(v_dv));
  Tensor dx = product(product(u, middle), v, false, true);
  const Tensor inverse = call("divide_no_nan", {scalar_like(1, s), s});
  const int64_t m = g.shape(0).dim(-2), n = g.shape(0).dim(-1);
  if (m > n) dx = dx + product((du - product(u, u_du)) * as_row(inverse), v, false, true);
  if (n > m) dx = dx + product(u * as_row(inverse), dv - product(v, v_dv), false, true);
  return dx;
}

void svd_gradient(Grad& g) {
  const Tensor ds = cast_to(dy_or_zeros(g, 0), g.x(0).dtype());
  if (!g.attr("compute_uv").as_bool()) {
    const std::vector<Tensor> full = call_all("svd", std::vector{g.x(0)});
    g.dx(0) = product(full[1] * as_row(ds), full[2], false, true);
    return;
  }
  const bool square = g.shape(0).dim(-1) == g.shape(0).dim(-2);
  if ((g.attr("full_matrices").as_bool() && !square) || is_complex(g.x(0).dtype())) {
    fail<UnimplementedError>(
        "[svd] has gradients of the singular vectors of real matrices with full_matrices=False; "
        "for the singular values alone call it with compute_uv=False");
  }
  const Tensor s = cast_to(g.y(0), g.x(0).dtype());
  g.dx(0) = product(g.y(1) * as_row(ds), g.y(2), false, true) + svd_vectors_gradient(g, s);
}

}  // namespace

TIDEMARK_OP(svd)
    .doc(
        "Singular values, from the largest on, and the singular vectors in the columns of u and "
        "v: the matrix is u diag(s) v^H. Without vectors u and v are empty.")
    .input("tensor", kMatrixTypes)
    .attr("full_matrices", AttrKind::boolean, false)
    .attr("compute_uv", AttrKind::boolean, true)
    .output("s", by_rule())
    .output("u", like("tensor"))
    .output("v", like("tensor"))
    .shape(svd_rule)
    .heavy()
    .gradient(svd_gradient, keep_x(0) | keep_y(0, 1, 2));

}  // namespace tidemark
