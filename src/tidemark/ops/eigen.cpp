// Orthogonal factors, eigenvalues and eigenvectors.
#include <algorithm>

#include "tidemark/ops/gradients.h"
#include "tidemark/ops/linalg.h"
#include "tidemark/ops/movement.h"

namespace tidemark {

namespace {

using namespace matrices;
using movement::dy_or_zeros;

void qr_rule(InferContext& c) {
  check_matrix(c, 0, false);
  const Shape& s = c.shape(0);
  if (!s.has_rank()) {
    c.set(0, s);
    c.set(1, s);
    return;
  }
  const int64_t m = s.dim(-2), n = s.dim(-1);
  const bool full = c.attr("full_matrices").as_bool();
  const int64_t width = full                                   ? m
                        : m == kUnknownDim || n == kUnknownDim ? kUnknownDim
                                                               : std::min(m, n);
  Shape q = leading(s, 1), r = leading(s, 2);
  q.push_back(width);
  r.push_back(width);
  r.push_back(n);
  c.set(0, q);
  c.set(1, r);
}

Tensor with_zero_diagonal(const Tensor& t) {
  return call("set_diag", {t, call("zeros_like", {call("diag_part", {t})})});
}

Tensor real_diagonal(const Tensor& t) {
  return cast_to(call("real", {call("diag_part", {t})}), t.dtype());
}

/// x R^-H for upper triangular R.
Tensor divided_by_adjoint(const Tensor& x, const Tensor& r) {
  return adjoint(solve_triangular(r, adjoint(x), false, false));
}

/// For as many rows as columns or more: with M = R dR^H - dQ^H Q, dA = (dQ + Q S) R^-H where S is
/// the self-adjoint matrix that has M's lower triangle and a real diagonal.
Tensor tall_qr_gradient(const Tensor& q, const Tensor& r, const Tensor& dq, const Tensor& dr) {
  const Tensor m = product(r, dr, false, true) - product(dq, q, true);
  const Tensor below = with_zero_diagonal(lower_part(m));
  const Tensor s = call("set_diag", {below + adjoint(below), real_diagonal(m)});
  return divided_by_adjoint(dq + product(q, s), r);
}

Tensor columns_of(const Tensor& t, int64_t begin, int64_t count) {
  Ints first(static_cast<size_t>(t.rank()), 0), size(static_cast<size_t>(t.rank()), -1);
  first.back() = begin;
  size.back() = count;
  return call("slice", {t, movement::ints_tensor(first), movement::ints_tensor(size)});
}

void qr_gradient(Grad& g) {
  const int64_t m = g.shape(0).dim(-2), n = g.shape(0).dim(-1);
  if (g.attr("full_matrices").as_bool() && m != n) {
    fail<UnimplementedError>(
        "[qr] has a gradient of matrices that are not square with full_matrices=False only; given "
        "shape ",
        g.shape(0).to_brackets());
  }
  const Tensor &q = g.y(0), &r = g.y(1);
  const Tensor dq = dy_or_zeros(g, 0), dr = dy_or_zeros(g, 1);
  if (m >= n) {
    g.dx(0) = tall_qr_gradient(q, r, dq, dr);
    return;
  }
  // A = [X Y] and R = [U V]: X = Q U is square, and Y = Q V depends on X through Q alone.
  const Tensor dv = columns_of(dr, m, n - m), y = columns_of(g.x(0), m, n - m);
  const Tensor dq_of_all = dq + product(y, dv, false, true);
  const Tensor dx = tall_qr_gradient(q, columns_of(r, 0, m), dq_of_all, columns_of(dr, 0, m));
  const std::vector<Tensor> parts{dx, product(q, dv)};
  g.dx(0) = call_all("concat", parts, {{"axis", g.shape(0).rank() - 1}})[0];
}

void eigen_rule(InferContext& c, DType values, DType vectors) {
  check_matrix(c, 0, true);
  const Shape& s = c.shape(0);
  c.set(0, s.has_rank() ? leading(s, 1) : s, values);
  c.set(1, c.attr("compute_v").as_bool() ? s : Shape{0}, vectors);
}

DType real_part_of(DType dtype) {
  return dtype == DType::complex64    ? DType::float32
         : dtype == DType::complex128 ? DType::float64
                                      : dtype;
}
DType complex_of(DType dtype) {
  return dtype == DType::float32   ? DType::complex64
         : dtype == DType::float64 ? DType::complex128
                                   : dtype;
}

/// 1 / (x_j - x_i), 0 where they are equal.
Tensor reciprocal_differences(const Tensor& x) {
  return call("divide_no_nan", {scalar_like(1, x), as_row(x) - as_column(x)});
}

Tensor diagonal_of(const Tensor& values) { return call("diag", {values}); }

/// The kernel reads the lower triangle alone: what flows to the upper one is added there.
Tensor to_lower_triangle(const Tensor& dx) {
  const Tensor both = lower_part(dx + adjoint(dx));
  const Tensor diagonal = call("diag_part", {both});
  return call("set_diag", {both, diagonal * scalar_like(0.5, diagonal)});
}

void eigh_gradient(Grad& g) {
  const bool has_vectors = g.attr("compute_v").as_bool();
  Tensor values = g.y(0), v = g.y(1);
  if (!has_vectors) {
    const std::vector<Tensor> both = call_all("eigh", std::vector{g.x(0)});
    v = both[1];
  }
  Tensor middle = diagonal_of(cast_to(dy_or_zeros(g, 0), v.dtype()));
  if (has_vectors && g.dy(1)) {
    const Tensor f = cast_to(reciprocal_differences(values), v.dtype());
    middle = middle + f * product(v, g.dy(1), true);
  }
  g.dx(0) = to_lower_triangle(product(product(v, middle), v, false, true));
}

/// With A V = V diag(e), V of unit columns: dA = V^-H (diag(de) + F' * (V^H dV - V^H V D)) V^H, D
/// the real diagonal of V^H dV.
void eig_gradient(Grad& g) {
  const bool has_vectors = g.attr("compute_v").as_bool();
  Tensor v = g.y(1);
  if (!has_vectors) v = call_all("eig", std::vector{g.x(0)})[1];
  Tensor middle = diagonal_of(dy_or_zeros(g, 0));
  if (has_vectors && g.dy(1)) {
    const Tensor f = conjugate(reciprocal_differences(g.y(0)));
    const Tensor turned = product(v, g.dy(1), true);
    const Tensor along = product(v, v, true) * as_row(real_diagonal(turned));
    middle = middle + f * (turned - along);
  }
  const Tensor right = product(middle, v, false, true);
  const Tensor dx = call("matrix_solve", {v, right}, {{"adjoint", true}});
  const bool real = !is_complex(g.x(0).dtype());
  g.dx(0) = cast_to(real ? call("real", {dx}) : dx, g.x(0).dtype());
}

/// The derivative of a matrix function f at A^H along dY is the upper right block of
/// f([A^H dY; 0 A^H]).
void matrix_function_gradient(Grad& g) {
  const Tensor a = adjoint(g.x(0)), dy = g.dy();
  const int row = a.rank() - 2, column = a.rank() - 1;
  const int64_t n = g.shape(0).dim(-1);
  const std::vector<Tensor> upper{a, dy}, lower{call("zeros_like", {a}), a};
  const std::vector<Tensor> rows{call_all("concat", upper, {{"axis", column}})[0],
                                 call_all("concat", lower, {{"axis", column}})[0]};
  const Tensor whole = call_all("concat", rows, {{"axis", row}})[0];
  const Tensor y = call_all(g.op_name(), std::vector{whole})[0];
  Ints first(static_cast<size_t>(a.rank()), 0), size(static_cast<size_t>(a.rank()), -1);
  first.back() = n;
  size.back() = n;
  size[static_cast<size_t>(row)] = n;
  g.dx(0) = call("slice", {y, movement::ints_tensor(first), movement::ints_tensor(size)});
}

}  // namespace

TIDEMARK_OP(qr)
    .doc(
        "An orthogonal (unitary) q and an upper triangular r whose product is the matrix; with "
        "full_matrices q is square.")
    .tensorflow("Qr", {}, "full_matrices")
    .input("input", kMatrixTypes)
    .attr("full_matrices", AttrKind::boolean, false)
    .output("q", like("input"))
    .output("r", like("input"))
    .shape(qr_rule)
    .heavy()
    .gradient(qr_gradient, keep_x(0) | keep_y(0, 1));

TIDEMARK_OP(eigh)
    .doc(
        "Eigenvalues of self-adjoint matrices, from the smallest on, and eigenvectors in the "
        "columns of v (empty unless wanted). Only the lower triangle is read.")
    .tensorflow("SelfAdjointEigV2", {}, "compute_v")
    .input("tensor", kMatrixTypes)
    .attr("compute_v", AttrKind::boolean, true)
    .output("e", by_rule())
    .output("v", by_rule())
    .shape([](InferContext& c) { eigen_rule(c, real_part_of(c.dtype(0)), c.dtype(0)); })
    .heavy()
    .gradient(eigh_gradient, keep_x(0) | keep_y(0, 1));

TIDEMARK_OP(eig)
    .doc(
        "Eigenvalues of square matrices, complex and in no particular order, and eigenvectors of "
        "length 1 in the columns of v (empty unless wanted).")
    .input("tensor", kMatrixTypes)
    .attr("compute_v", AttrKind::boolean, true)
    .output("e", by_rule())
    .output("v", by_rule())
    .shape([](InferContext& c) {
      const DType out = complex_of(c.dtype(0));
      eigen_rule(c, out, out);
    })
    .heavy()
    .gradient(eig_gradient, keep_x(0) | keep_y(0, 1));

TIDEMARK_OP(expm)
    .doc("The exponential of each matrix: the limit of its power series.")
    .python("tf.linalg.expm")
    .tensorflow("MatrixExponential")
    .input("input", kMatrixTypes)
    .output("output", like("input"))
    .shape(same_square_rule)
    .heavy()
    .gradient(matrix_function_gradient, keep_x(0));

TIDEMARK_OP(logm)
    .doc(
        "The principal logarithm of each matrix. NaN for a real matrix with an eigenvalue below 0: "
        "its logarithm is complex.")
    .python("tf.linalg.logm")
    .input("input", kMatrixTypes)
    .output("output", like("input"))
    .shape(same_square_rule)
    .heavy()
    .gradient(matrix_function_gradient, keep_x(0));

TIDEMARK_OP(sqrtm)
    .doc(
        "The principal square root of each matrix. NaN for a real matrix with an eigenvalue below "
        "0: its square root is complex.")
    .python("tf.linalg.sqrtm", "tf.matrix_square_root")
    .tensorflow("MatrixSquareRoot")
    .input("input", kMatrixTypes)
    .output("output", like("input"))
    .shape(same_square_rule)
    .heavy()
    .gradient(matrix_function_gradient, keep_x(0));

}  // namespace tidemark
