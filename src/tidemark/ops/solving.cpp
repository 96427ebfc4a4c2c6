// Cholesky and LU decompositions, solutions of linear systems, inverses and determinants.
#include "tidemark/ops/gradients.h"
#include "tidemark/ops/linalg.h"
#include "tidemark/ops/movement.h"

namespace tidemark {

namespace {

using namespace matrices;

Tensor halved_diagonal(const Tensor& t) {
  const Tensor diagonal = call("diag_part", {t});
  return call("set_diag", {t, diagonal * scalar_like(0.5, t)});
}

/// With P = tril(L^H dL), its diagonal halved: dA = (S + S^H) / 2 where S = L^-H P L^-1.
void cholesky_gradient(Grad& g) {
  const Tensor& l = g.y();
  const Tensor p = halved_diagonal(lower_part(product(l, g.dy(), true)));
  const Tensor half = solve_triangular(l, p, true, true);
  const Tensor s = adjoint(solve_triangular(l, adjoint(half), true, true));
  g.dx(0) = (s + adjoint(s)) * scalar_like(0.5, s);
}

void check_right_side(const InferContext& c) {
  check_matrix(c, 0, true);
  check_matrix(c, 1, false);
  const Shape &a = c.shape(0), &b = c.shape(1);
  if (!a.has_rank() || !b.has_rank()) return;
  const int64_t n = a.dim(-1), rows = b.dim(-2);
  if (n == rows || n == kUnknownDim || rows == kUnknownDim) return;
  c.fail("the right side must have as many rows as the matrix: ", a.to_brackets(), " and ",
         b.to_brackets(), " were given");
}

void triangular_solve_rule(InferContext& c) {
  check_right_side(c);
  const Shape &a = c.shape(0), &b = c.shape(1);
  if (!a.has_rank() || !b.has_rank()) return c.set(0, Shape::unknown());
  Shape out = broadcast_shapes(leading(a, 2), leading(b, 2));
  out.push_back(b.dim(-2));
  out.push_back(b.dim(-1));
  c.set(0, out);
}

/// For y = A^-1 b: db = A^-H dy and dA = -db y^H; for y = A^-H b: dA = -y db^H.
Tensor matrix_part(const Tensor& db, const Tensor& y, bool adjoint) {
  return -(adjoint ? product(y, db, false, true) : product(db, y, false, true));
}

void triangular_solve_gradient(Grad& g) {
  const bool lower = g.attr("lower").as_bool(), adjoint = g.attr("adjoint").as_bool();
  const Tensor db = solve_triangular(g.x(0), g.dy(), lower, !adjoint);
  const Tensor da = matrix_part(db, g.y(), adjoint);
  g.dx(0) = g.unbroadcast(lower ? lower_part(da) : upper_part(da), 0);
  g.dx(1) = g.unbroadcast(db, 1);
}

void solve_rule(InferContext& c) {
  check_right_side(c);
  const Shape &a = c.shape(0), &b = c.shape(1);
  if (a.is_fully_known() && b.is_fully_known() && leading(a, 2) != leading(b, 2)) {
    c.fail("matrix and right side must have the same leading dimensions: ", a.to_brackets(),
           " and ", b.to_brackets(), " were given");
  }
  c.set(0, b);
}

void solve_gradient(Grad& g) {
  const bool adjoint = g.attr("adjoint").as_bool();
  const Tensor db = call("matrix_solve", {g.x(0), g.dy()}, {{"adjoint", !adjoint}});
  g.dx(1) = db;
  g.dx(0) = matrix_part(db, g.y(), adjoint);
}

void inverse_gradient(Grad& g) {
  const Tensor d = -product(product(g.y(), g.dy(), true), g.y(), false, true);
  g.dx(0) = g.attr("adjoint").as_bool() ? adjoint(d) : d;
}

void determinant_rule(InferContext& c) {
  check_matrix(c, 0, true);
  const Shape& s = c.shape(0);
  for (int i = 0; i < c.num_outputs(); ++i) c.set(i, s.has_rank() ? leading(s, 2) : s);
}

Tensor inverse_adjoint(const Tensor& t) { return call("matrix_inverse", {t}, {{"adjoint", true}}); }

void lu_rule(InferContext& c) {
  check_matrix(c, 0, true);
  const Shape& s = c.shape(0);
  c.set(0, s);
  c.set(1, s.has_rank() ? leading(s, 1) : s);
}

/// With A[p] = L U: dA[p] = L^-H (tril(L^H dL, -1) + triu(dU U^H)) U^-H.
void lu_gradient(Grad& g) {
  const Tensor& packed = g.y(0);
  const Tensor dy = movement::dy_or_zeros(g, 0);
  const Tensor ones = call("ones_like", {call("diag_part", {packed})});
  const Tensor zeros = call("zeros_like", {ones});
  const Tensor l = call("set_diag", {lower_part(packed), ones}), u = upper_part(packed);
  const Tensor below = call("set_diag", {lower_part(product(l, dy, true)), zeros});
  const Tensor above = upper_part(product(upper_part(dy), u, false, true));
  const Tensor half = solve_triangular(l, below + above, true, true);
  // x U^-H = (U^-1 x^H)^H
  const Tensor permuted = adjoint(solve_triangular(u, adjoint(half), false, false));
  const Tensor size = Tensor(static_cast<int32_t>(g.shape(0).dim(-1)));
  const Tensor p = call("one_hot", {g.y(1), size, scalar_like(1, packed), scalar_like(0, packed)});
  g.dx(0) = call("matmul", {p, permuted}, {{"transpose_a", true}});
}

}  // namespace

TIDEMARK_OP(cholesky)
    .doc(
        "The lower triangular L with L L^H equal to each matrix, which must be self-adjoint and "
        "positive definite; only its lower triangle is read.")
    .python("tf.linalg.cholesky")
    .tensorflow("Cholesky")
    .input("input", kMatrixTypes)
    .output("output", like("input"))
    .may_fail()
    .shape(same_square_rule)
    .heavy()
    .gradient(cholesky_gradient, keep_y(0));

TIDEMARK_OP(triangular_solve)
    .doc(
        "Solves matrix @ x = rhs by substitution; the matrices are lower or upper triangular, and "
        "their other triangle is not read. Leading dimensions broadcast.")
    .python("tf.linalg.triangular_solve")
    .tensorflow("MatrixTriangularSolve", {}, "lower adjoint")
    .input("matrix", kMatrixTypes)
    .input("rhs", kMatrixTypes)
    .attr("lower", AttrKind::boolean, true)
    .attr("adjoint", AttrKind::boolean, false)
    .output("output", like("matrix"))
    .may_fail()
    .shape(triangular_solve_rule)
    .heavy()
    .gradient(triangular_solve_gradient, keep_x(0) | keep_y(0));

TIDEMARK_OP(matrix_solve)
    .doc("Solves matrix @ x = rhs (or with the adjoint of the matrix) for x.")
    .python("tf.linalg.solve")
    .tensorflow("MatrixSolve", {}, "adjoint")
    .input("matrix", kMatrixTypes)
    .input("rhs", kMatrixTypes)
    .attr("adjoint", AttrKind::boolean, false)
    .output("output", like("matrix"))
    .may_fail()
    .shape(solve_rule)
    .heavy()
    .gradient(solve_gradient, keep_x(0) | keep_y(0));

TIDEMARK_OP(matrix_inverse)
    .doc("The inverse of each matrix, or of its adjoint.")
    .python("tf.linalg.inv")
    .tensorflow("MatrixInverse", {}, "adjoint")
    .input("input", kMatrixTypes)
    .attr("adjoint", AttrKind::boolean, false)
    .output("output", like("input"))
    .may_fail()
    .shape(same_square_rule)
    .heavy()
    .gradient(inverse_gradient, keep_y(0));

TIDEMARK_OP(matrix_determinant)
    .doc("The determinant of each matrix.")
    .python("tf.linalg.det")
    .tensorflow("MatrixDeterminant")
    .onnx("Det")
    .input("input", kMatrixTypes)
    .output("output", like("input"))
    .shape(determinant_rule)
    .heavy()
    .gradient(
        [](Grad& g) {
          const Tensor factor = as_column(as_column(g.dy() * conjugate(g.y())));
          g.dx(0) = factor * inverse_adjoint(g.x(0));
        },
        keep_x(0) | keep_y(0));

TIDEMARK_OP(log_matrix_determinant)
    .doc("Sign and logarithm of the absolute value of the determinant of each matrix.")
    .tensorflow("LogMatrixDeterminant")
    .input("input", kMatrixTypes)
    .output("sign", like("input"))
    .output("log_abs_determinant", like("input"))
    .shape(determinant_rule)
    .heavy()
    .gradient(
        [](Grad& g) {
          const Tensor factor = as_column(as_column(movement::dy_or_zeros(g, 1)));
          g.dx(0) = factor * inverse_adjoint(g.x(0));
        },
        keep_x(0) | keep_y(1));

TIDEMARK_OP(lu)
    .doc(
        "L (unit diagonal not stored) and U packed into one matrix, and the permutation p with "
        "input[p] = L U.")
    .input("input", kMatrixTypes)
    .attr("output_idx_type", AttrKind::dtype, DType::int32)
    .among(kIndex)
    .output("lu", like("input"))
    .output("p", from_attr("output_idx_type"))
    .may_fail()
    .shape(lu_rule)
    .heavy()
    .gradient(lu_gradient, keep_y(0, 1));

}  // namespace tidemark
