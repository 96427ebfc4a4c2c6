// Words that definitions of matrix ops share.
#pragma once

#include <tidemark/call.h>

namespace tidemark::matrices {

/// What Eigen decomposes.
inline constexpr DTypeSet kMatrixTypes =
    dtype_set(DType::float32, DType::float64, DType::complex64, DType::complex128);

/// Throws unless the input has at least two dimensions, the last two equal if `square`.
void check_matrix(const InferContext& c, int input, bool square);
/// Rule of ops that answer a matrix as large as the square one they get.
void same_square_rule(InferContext& c);
/// The shape without its last `count` dimensions.
Shape leading(const Shape& shape, int count);

/// a b, each conjugated and transposed first where asked.
Tensor product(const Tensor& a, const Tensor& b, bool adjoint_a = false, bool adjoint_b = false);
/// Last two dimensions exchanged, elements conjugated.
Tensor adjoint(const Tensor& t);
Tensor solve_triangular(const Tensor& matrix, const Tensor& rhs, bool lower, bool adjoint);
/// Elements on and below (above) the diagonal.
Tensor lower_part(const Tensor& t);
Tensor upper_part(const Tensor& t);
/// The vectors in the last dimension as columns (rows) of matrices with one column (row).
Tensor as_column(const Tensor& t);
Tensor as_row(const Tensor& t);

}  // namespace tidemark::matrices
