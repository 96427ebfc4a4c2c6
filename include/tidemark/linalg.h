// Matrices, under TensorFlow's names: products, parts, norms, decompositions and what is made of
// them. Leading dimensions are a batch.
//
//   td::Tensor a = td::constant({{4.f, 2.f}, {2.f, 3.f}});
//   auto [q, r] = td::linalg::qr(a);
//   td::Tensor x = td::linalg::lstsq(a, td::ones({2, 1}));
//   td::Tensor sum = td::linalg::trace(a) + td::linalg::norm(a, {.axis = {0, 1}});
//
// Those that are ops (td::linalg::det, inv, cholesky, …) are in <tidemark/ops.h>.
#pragma once

#include <tidemark/composed.h>
#include <tidemark/einsum.h>
#include <tidemark/ops.h>

#include <optional>
#include <string>
#include <vector>

namespace tidemark::linalg {

using tidemark::einsum;
using tidemark::eye;
using tidemark::global_norm;
using tidemark::matmul;
using tidemark::norm;
using tidemark::tensordot;

// --- products and parts -------------------------------------------------------------------------

struct MatvecOptions {
  bool transpose_a = false, adjoint_a = false;
};
/// Matrices times vectors.
TIDEMARK_API Tensor matvec(const Tensor& a, const Tensor& b, const MatvecOptions& options = {});
/// The last two dimensions exchanged.
TIDEMARK_API Tensor matrix_transpose(const Tensor& a, bool conjugate = false);
/// The same, each element replaced by its conjugate.
TIDEMARK_API Tensor adjoint(const Tensor& matrix);
/// The cross product of vectors of three elements.
TIDEMARK_API Tensor cross(const Tensor& a, const Tensor& b);

/// A diagonal by its number (0 the main one, positive above it), or those from `low` to `high`.
struct Diagonals {
  Diagonals(int64_t k) : low(k), high(k) {}
  Diagonals(int64_t low, int64_t high) : low(low), high(high) {}
  int64_t low, high;
};
struct DiagOptions {
  Diagonals k = 0;
  int64_t num_rows = -1, num_cols = -1;  // -1: as few as there can be
  double padding_value = 0;
  std::string align = "RIGHT_LEFT";
};
/// Matrices with the given values on their diagonals.
TIDEMARK_API Tensor diag(const Tensor& diagonal, const DiagOptions& options = {});
struct DiagPartOptions {
  Diagonals k = 0;
  double padding_value = 0;
  std::string align = "RIGHT_LEFT";
};
/// The diagonals of matrices, of several the uppermost first.
TIDEMARK_API Tensor diag_part(const Tensor& input, const DiagPartOptions& options = {});
struct SetDiagOptions {
  Diagonals k = 0;
  std::string align = "RIGHT_LEFT";
};
/// Matrices with the given values in place of their diagonals.
TIDEMARK_API Tensor set_diag(const Tensor& input, const Tensor& diagonal,
                             const SetDiagOptions& options = {});
/// The sum of the diagonal.
TIDEMARK_API Tensor trace(const Tensor& x);
/// A tensor of twice the rank with the values where both halves of the index agree.
TIDEMARK_API Tensor tensor_diag(const Tensor& diagonal);
/// The values of a tensor where both halves of the index agree.
TIDEMARK_API Tensor tensor_diag_part(const Tensor& input);

// --- norms --------------------------------------------------------------------------------------

/// x divided by its length along the axes (none: of all elements), or by the root of `epsilon`.
TIDEMARK_API Tensor l2_normalize(const Tensor& x, const std::optional<Ints>& axis = std::nullopt,
                                 double epsilon = 1e-12);
struct Normalized {
  Tensor normalized, norm;
};
/// A tensor divided by its norm, and the norm.
TIDEMARK_API Normalized normalize(const Tensor& tensor, const NormOptions& options = {});

// --- decompositions -----------------------------------------------------------------------------

struct Qr {
  Tensor q, r;
};
/// An orthogonal `q` and an upper triangular `r` whose product is the matrix.
TIDEMARK_API Qr qr(const Tensor& input, bool full_matrices = false);
struct Svd {
  Tensor s, u, v;
};
/// Singular values from the largest on, and the vectors: input = u diag(s) adjoint(v).
TIDEMARK_API Svd svd(const Tensor& tensor, bool full_matrices = false);
/// The singular values alone.
TIDEMARK_API Tensor singular_values(const Tensor& tensor);
struct Lu {
  Tensor lu, p;
};
/// Packed factors and the permutation `p` with input[p] = L U.
TIDEMARK_API Lu lu(const Tensor& input, DType output_idx_type = DType::int32);
/// The matrix whose decomposition is given.
TIDEMARK_API Tensor lu_reconstruct(const Tensor& lower_upper, const Tensor& perm);
/// Solves A x = rhs with the decomposition of A.
TIDEMARK_API Tensor lu_solve(const Tensor& lower_upper, const Tensor& perm, const Tensor& rhs);
TIDEMARK_API Tensor lu_matrix_inverse(const Tensor& lower_upper, const Tensor& perm);
struct Eigen {
  Tensor e, v;
};
/// Eigenvalues of self-adjoint matrices from the smallest on, and their eigenvectors.
TIDEMARK_API Eigen eigh(const Tensor& tensor);
TIDEMARK_API Tensor eigvalsh(const Tensor& tensor);
/// Eigenvalues of square matrices, complex, and their eigenvectors.
TIDEMARK_API Eigen eig(const Tensor& tensor);
TIDEMARK_API Tensor eigvals(const Tensor& tensor);
/// The eigenvalues of the self-adjoint matrix with the diagonal `alpha` and `beta` beside it.
TIDEMARK_API Tensor eigh_tridiagonal(const Tensor& alpha, const Tensor& beta);

// --- systems, determinants, ranks ---------------------------------------------------------------

/// Solves A x = rhs with the Cholesky decomposition of A.
TIDEMARK_API Tensor cholesky_solve(const Tensor& chol, const Tensor& rhs);
struct LstsqOptions {
  double l2_regularizer = 0;
  bool fast = true;  // by the normal equations, else by the pseudo-inverse
};
/// The x with the least |matrix x - rhs|² + l2_regularizer |x|².
TIDEMARK_API Tensor lstsq(const Tensor& matrix, const Tensor& rhs,
                          const LstsqOptions& options = {});
/// The pseudo-inverse: singular values below `rcond` times the largest count as zero.
TIDEMARK_API Tensor pinv(const Tensor& a, const std::optional<double>& rcond = std::nullopt);
/// The number of singular values above a tolerance.
TIDEMARK_API Tensor matrix_rank(const Tensor& a, const std::optional<double>& tol = std::nullopt);
/// The logarithm of the determinant of positive definite matrices.
TIDEMARK_API Tensor logdet(const Tensor& matrix);
struct LogMatrixDeterminant {
  Tensor sign, log_abs_determinant;
};
/// Sign and logarithm of the absolute value of the determinant.
TIDEMARK_API LogMatrixDeterminant slogdet(const Tensor& input);
/// Solves systems whose matrices have three diagonals, [..., 3, M]: above, main, below, element i
/// of each in row i. The right side is a matrix [..., M, K] or a vector [..., M].
TIDEMARK_API Tensor tridiagonal_solve(const Tensor& diagonals, const Tensor& rhs,
                                      bool partial_pivoting = true);
/// Products of such matrices with full ones.
TIDEMARK_API Tensor tridiagonal_matmul(const Tensor& diagonals, const Tensor& rhs);
struct BandedTriangularSolveOptions {
  bool lower = true, adjoint = false;
};
/// Solves systems whose matrices are triangular and have a few diagonals, [..., K, M].
TIDEMARK_API Tensor banded_triangular_solve(const Tensor& bands, const Tensor& rhs,
                                            const BandedTriangularSolveOptions& options = {});

}  // namespace tidemark::linalg

namespace tidemark {
using linalg::eigvals;
}
