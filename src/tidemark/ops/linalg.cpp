#include "tidemark/ops/linalg.h"

#include "tidemark/ops/movement.h"

namespace tidemark::matrices {

void check_matrix(const InferContext& c, int input, bool square) {
  const Shape& s = c.shape(input);
  if (!s.has_rank()) return;
  if (s.rank() < 2) {
    c.fail("input ", input, " must be a matrix or a batch of them (rank 2 or more); given shape ",
           s.to_brackets());
  }
  const int64_t rows = s.dim(-2), columns = s.dim(-1);
  if (square && rows != columns && rows != kUnknownDim && columns != kUnknownDim) {
    c.fail("Input matrix must be square. Input ", input, " has shape ", s.to_brackets());
  }
}

void same_square_rule(InferContext& c) {
  check_matrix(c, 0, true);
  c.set(0, c.shape(0));
}

Shape leading(const Shape& shape, int count) {
  return Shape(shape.dims().first(static_cast<size_t>(shape.rank() - count)));
}

Tensor product(const Tensor& a, const Tensor& b, bool adjoint_a, bool adjoint_b) {
  return call("matmul", {a, b}, {{"adjoint_a", adjoint_a}, {"adjoint_b", adjoint_b}});
}

Tensor adjoint(const Tensor& t) {
  Ints perm;
  for (int i = 0; i < t.rank() - 2; ++i) perm.push_back(i);
  perm.push_back(t.rank() - 1);
  perm.push_back(t.rank() - 2);
  return call("transpose", {t}, {{"perm", perm}, {"conjugate", is_complex(t.dtype())}});
}

Tensor solve_triangular(const Tensor& matrix, const Tensor& rhs, bool lower, bool adjoint) {
  return call("triangular_solve", {matrix, rhs}, {{"lower", lower}, {"adjoint", adjoint}});
}

Tensor lower_part(const Tensor& t) { return call("band_part", {t, Tensor(-1), Tensor(0)}); }
Tensor upper_part(const Tensor& t) { return call("band_part", {t, Tensor(0), Tensor(-1)}); }

Tensor as_column(const Tensor& t) { return call("expand_dims", {t}, {{"axis", -1}}); }
Tensor as_row(const Tensor& t) { return call("expand_dims", {t}, {{"axis", -2}}); }

}  // namespace tidemark::matrices
