#include <tidemark/call.h>
#include <tidemark/linalg.h>

#include <algorithm>

#include "tidemark/nn/building.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"
#include "tidemark/ops/linalg.h"

namespace tidemark::linalg {

namespace {

using nn::check_rank;
using nn::known_size;
using nn::number;
using nn::part;

/// Where several diagonals lie when element i of each belongs to row i.
constexpr const char* kByRows = "LEFT_RIGHT";

Tensor padding(double value, const Tensor& like) {
  return like.dtype() == DType::bool_ ? Tensor(value != 0) : number(value, like);
}

/// Rows and columns of the smallest matrix that has the diagonals, or as told.
std::pair<int64_t, int64_t> matrix_sizes(int64_t length, const DiagOptions& options) {
  const auto [low, high] = options.k;
  const int64_t rows = length - std::min<int64_t>(high, 0);
  const int64_t columns = length + std::max<int64_t>(low, 0);
  const int64_t least = std::max(rows, columns);
  if (options.num_rows == -1 && options.num_cols == -1) return {least, least};
  const int64_t r = options.num_rows == -1 ? rows : options.num_rows;
  const int64_t c = options.num_cols == -1 ? columns : options.num_cols;
  if (r < rows || c < columns || (r != rows && c != columns)) {
    fail("[diag] diagonals ", low, " to ", high, " of length ", length, " need ", rows,
         " rows and ", columns, " columns, or more of one of them. Received: ", r, " and ", c);
  }
  return {r, c};
}

double epsilon_of(DType dtype) {
  const bool is_wide = dtype == DType::float64 || dtype == DType::complex128;
  return is_wide ? 0x1p-52 : 0x1p-23;
}

/// The larger of the numbers of rows and columns.
double largest_size(std::string_view what, const Tensor& matrix) {
  return static_cast<double>(std::max(known_size(what, matrix, -2), known_size(what, matrix, -1)));
}

Tensor unit_beside(std::string_view what, const Tensor& matrices, int64_t size) {
  check_rank(what, matrices, 2);
  const Tensor sizes = nn::sizes_then(matrices, matrices.rank() - 2, {size, size});
  return broadcast_to(eye(size, -1, matrices.dtype()), sizes);
}

struct Factors {
  Tensor lower, upper;
};
Factors unpacked(const Tensor& lower_upper) {
  const Tensor lower = matrices::lower_part(lower_upper);
  const Tensor ones = ones_like(tidemark::diag_part(lower_upper));
  return {tidemark::set_diag(lower, ones), matrices::upper_part(lower_upper)};
}

Tensor rows_taken(const Tensor& matrix, const Tensor& rows) {
  const int64_t batch = matrix.rank() - 2;
  return gather(matrix, rows, {.axis = batch, .batch_dims = batch});
}

}  // namespace

Tensor matvec(const Tensor& a, const Tensor& b, const MatvecOptions& options) {
  TIDEMARK_HERE;
  const Tensor column = expand_dims(b, -1);
  const Tensor product =
      matmul(a, column, {.transpose_a = options.transpose_a, .adjoint_a = options.adjoint_a});
  return squeeze(product, Ints{-1});
}

Tensor matrix_transpose(const Tensor& a, bool conjugate) {
  TIDEMARK_HERE;
  check_rank("matrix_transpose", a, 2);
  Ints order;
  for (int i = 0; i < a.rank(); ++i) order.push_back(i);
  std::swap(order[order.size() - 2], order.back());
  return transpose(a, order, conjugate);
}

Tensor adjoint(const Tensor& matrix) {
  TIDEMARK_HERE;
  return matrix_transpose(matrix, true);
}

Tensor cross(const Tensor& a, const Tensor& b) {
  TIDEMARK_HERE;
  if (known_size("cross", a, -1) != 3 || a.shape() != b.shape()) {
    fail("[cross] takes two tensors of one shape ending in 3. Received: ", a.shape(), " and ",
         b.shape());
  }
  const Tensor next = nn::vector_of({1, 2, 0}), last = nn::vector_of({2, 0, 1});
  const auto pick = [](const Tensor& t, const Tensor& order) {
    return gather(t, order, {.axis = -1});
  };
  return pick(a, next) * pick(b, last) - pick(a, last) * pick(b, next);
}

Tensor diag(const Tensor& diagonal, const DiagOptions& options) {
  TIDEMARK_HERE;
  const auto [low, high] = options.k;
  const bool is_one = low == high;
  if (is_one && options.num_rows == -1 && options.num_cols == -1 && options.padding_value == 0) {
    return tidemark::diag(diagonal, low);
  }
  check_rank("diag", diagonal, is_one ? 1 : 2);
  const Tensor all = is_one ? expand_dims(diagonal, -2) : diagonal;
  const auto [rows, columns] = matrix_sizes(known_size("diag", all, -1), options);
  const Tensor sizes = nn::sizes_then(all, all.rank() - 2, {rows, columns});
  return set_diags(fill(sizes, padding(options.padding_value, all)), all, low, high, options.align);
}

Tensor diag_part(const Tensor& input, const DiagPartOptions& options) {
  TIDEMARK_HERE;
  const auto [low, high] = options.k;
  if (low == high) return tidemark::diag_part(input, low);
  return diag_parts(input, padding(options.padding_value, input), low, high, options.align);
}

Tensor set_diag(const Tensor& input, const Tensor& diagonal, const SetDiagOptions& options) {
  TIDEMARK_HERE;
  const auto [low, high] = options.k;
  if (low == high) return tidemark::set_diag(input, diagonal, low);
  return set_diags(input, diagonal, low, high, options.align);
}

Tensor trace(const Tensor& x) {
  TIDEMARK_HERE;
  return sum(tidemark::diag_part(x), Ints{-1});
}

Tensor tensor_diag(const Tensor& diagonal) {
  TIDEMARK_HERE;
  Ints sizes;
  for (int i = 0; i < diagonal.rank(); ++i) sizes.push_back(known_size("tensor_diag", diagonal, i));
  if (sizes.empty()) return diagonal;
  sizes.insert(sizes.end(), sizes.begin(), sizes.begin() + diagonal.rank());
  const Tensor flat = reshape(diagonal, nn::vector_of({-1}));
  return reshape(tidemark::diag(flat), nn::vector_of(sizes));
}

Tensor tensor_diag_part(const Tensor& input) {
  TIDEMARK_HERE;
  const int half = input.rank() / 2;
  Ints sizes;
  int64_t count = 1;
  for (int i = 0; i < half; ++i) {
    sizes.push_back(known_size("tensor_diag_part", input, i));
    count *= sizes.back();
  }
  const bool agree = std::equal(sizes.begin(), sizes.end(), input.shape().begin() + half);
  if (half == 0 || input.rank() % 2 != 0 || !agree) {
    fail("[tensor_diag_part] takes shapes such as (2, 3, 2, 3). Received: ", input.shape());
  }
  const Tensor square = reshape(input, nn::vector_of({count, count}));
  return reshape(tidemark::diag_part(square), nn::vector_of(sizes));
}

Tensor l2_normalize(const Tensor& x, const std::optional<Ints>& axis, double epsilon) {
  TIDEMARK_HERE;
  const Tensor total = sum(square(is_complex(x.dtype()) ? abs(x) : x), axis, true);
  return multiply(x, cast(rsqrt(maximum(total, number(epsilon, total))), x.dtype()));
}

Normalized normalize(const Tensor& tensor, const NormOptions& options) {
  TIDEMARK_HERE;
  NormOptions kept = options;
  kept.keepdims = true;
  const Tensor length = norm(tensor, kept);
  return {tensor / cast(length, tensor.dtype()), length};
}

Qr qr(const Tensor& input, bool full_matrices) {
  TIDEMARK_HERE;
  std::vector<Tensor> both = tidemark::qr(input, full_matrices);
  return {std::move(both[0]), std::move(both[1])};
}

Svd svd(const Tensor& tensor, bool full_matrices) {
  TIDEMARK_HERE;
  std::vector<Tensor> all = tidemark::svd(tensor, full_matrices);
  return {std::move(all[0]), std::move(all[1]), std::move(all[2])};
}

Tensor singular_values(const Tensor& tensor) {
  TIDEMARK_HERE;
  return tidemark::svd(tensor, false, false)[0];
}

Lu lu(const Tensor& input, DType output_idx_type) {
  TIDEMARK_HERE;
  std::vector<Tensor> both = tidemark::lu(input, output_idx_type);
  return {std::move(both[0]), std::move(both[1])};
}

Tensor lu_reconstruct(const Tensor& lower_upper, const Tensor& perm) {
  TIDEMARK_HERE;
  const auto [lower, upper] = unpacked(lower_upper);
  return rows_taken(matmul(lower, upper), argsort(perm));
}

Tensor lu_solve(const Tensor& lower_upper, const Tensor& perm, const Tensor& rhs) {
  TIDEMARK_HERE;
  const auto [lower, upper] = unpacked(lower_upper);
  return triangular_solve(upper, triangular_solve(lower, rows_taken(rhs, perm), true), false);
}

Tensor lu_matrix_inverse(const Tensor& lower_upper, const Tensor& perm) {
  TIDEMARK_HERE;
  const int64_t rows = known_size("lu_matrix_inverse", lower_upper, -2);
  return lu_solve(lower_upper, perm, unit_beside("lu_matrix_inverse", lower_upper, rows));
}

Eigen eigh(const Tensor& tensor) {
  TIDEMARK_HERE;
  std::vector<Tensor> both = tidemark::eigh(tensor);
  return {std::move(both[0]), std::move(both[1])};
}

Tensor eigvalsh(const Tensor& tensor) {
  TIDEMARK_HERE;
  return tidemark::eigh(tensor, false)[0];
}

Eigen eig(const Tensor& tensor) {
  TIDEMARK_HERE;
  std::vector<Tensor> both = tidemark::eig(tensor);
  return {std::move(both[0]), std::move(both[1])};
}

Tensor eigvals(const Tensor& tensor) {
  TIDEMARK_HERE;
  return tidemark::eig(tensor, false)[0];
}

Tensor eigh_tridiagonal(const Tensor& alpha, const Tensor& beta) {
  TIDEMARK_HERE;
  const bool are_vectors = alpha.rank() == 1 && beta.rank() == 1;
  if (!are_vectors ||
      known_size("eigh_tridiagonal", beta, 0) != known_size("eigh_tridiagonal", alpha, 0) - 1) {
    fail("[eigh_tridiagonal] alpha is a vector and beta one with an element less. Received: ",
         alpha.shape(), " and ", beta.shape());
  }
  // The lower triangle alone is read.
  return eigvalsh(tidemark::diag(alpha) + tidemark::diag(beta, -1));
}

Tensor cholesky_solve(const Tensor& chol, const Tensor& rhs) {
  TIDEMARK_HERE;
  return triangular_solve(chol, triangular_solve(chol, rhs, true), true, true);
}

Tensor lstsq(const Tensor& matrix, const Tensor& rhs, const LstsqOptions& options) {
  TIDEMARK_HERE;
  if (!options.fast) {
    if (options.l2_regularizer != 0) {
      fail<UnimplementedError>("[lstsq] with l2_regularizer needs `fast`; it was false");
    }
    return matmul(pinv(matrix), rhs);
  }
  const int64_t rows = known_size("lstsq", matrix, -2), columns = known_size("lstsq", matrix, -1);
  const bool is_wide = rows < columns;
  Tensor gram = matrices::product(matrix, matrix, !is_wide, is_wide);
  if (options.l2_regularizer != 0) {
    const Tensor unit = unit_beside("lstsq", matrix, std::min(rows, columns));
    gram = gram + unit * number(options.l2_regularizer, matrix);
  }
  const Tensor factor = cholesky(gram);
  if (is_wide) return matrices::product(matrix, cholesky_solve(factor, rhs), true);
  return cholesky_solve(factor, matrices::product(matrix, rhs, true));
}

Tensor pinv(const Tensor& a, const std::optional<double>& rcond) {
  TIDEMARK_HERE;
  const auto [s, u, v] = svd(a);
  const double least = rcond.value_or(10 * largest_size("pinv", a) * epsilon_of(a.dtype()));
  const Tensor limit = max(s, Ints{-1}, true) * number(least, s);
  const Tensor inverse = select(greater(s, limit), reciprocal(s), zeros_like(s));
  return matrices::product(v * matrices::as_row(cast(inverse, a.dtype())), u, false, true);
}

Tensor matrix_rank(const Tensor& a, const std::optional<double>& tol) {
  TIDEMARK_HERE;
  const Tensor s = singular_values(a);
  const double part_of_largest = largest_size("matrix_rank", a) * epsilon_of(a.dtype());
  const Tensor limit = tol ? number(*tol, s) : max(s, Ints{-1}, true) * number(part_of_largest, s);
  return sum(cast(greater(s, limit), DType::int32), Ints{-1});
}

Tensor logdet(const Tensor& matrix) {
  TIDEMARK_HERE;
  const Tensor diagonal = tidemark::diag_part(cholesky(matrix));
  const Tensor real_diagonal = is_complex(matrix.dtype()) ? real(diagonal) : diagonal;
  const Tensor half = sum(log(real_diagonal), Ints{-1});
  return half + half;
}

LogMatrixDeterminant slogdet(const Tensor& input) {
  TIDEMARK_HERE;
  std::vector<Tensor> both = log_matrix_determinant(input);
  return {std::move(both[0]), std::move(both[1])};
}

Tensor tridiagonal_solve(const Tensor& diagonals, const Tensor& rhs, bool partial_pivoting) {
  TIDEMARK_HERE;
  if (rhs.rank() != diagonals.rank() - 1) {
    return tidemark::tridiagonal_solve(diagonals, rhs, partial_pivoting);
  }
  const Tensor column = expand_dims(rhs, -1);
  return squeeze(tidemark::tridiagonal_solve(diagonals, column, partial_pivoting), Ints{-1});
}

Tensor tridiagonal_matmul(const Tensor& diagonals, const Tensor& rhs) {
  TIDEMARK_HERE;
  constexpr const char* kName = "tridiagonal_matmul";
  if (known_size(kName, diagonals, -2) != 3 ||
      known_size(kName, diagonals, -1) != known_size(kName, rhs, -2)) {
    fail("[tridiagonal_matmul] takes diagonals [..., 3, M] and a matrix [..., M, K]. Received: ",
         diagonals.shape(), " and ", rhs.shape());
  }
  const int64_t rows = rhs.dim(-2);
  if (rows == 0) return rhs;
  const auto column = [&](int64_t row) { return expand_dims(nn::at(diagonals, -2, row), -1); };
  const Tensor following = nn::padded(part(rhs, -2, 1), -2, 0, 1);
  const Tensor preceding = nn::padded(part(rhs, -2, 0, rows - 1), -2, 1, 0);
  return column(0) * following + column(1) * rhs + column(2) * preceding;
}

Tensor banded_triangular_solve(const Tensor& bands, const Tensor& rhs,
                               const BandedTriangularSolveOptions& options) {
  TIDEMARK_HERE;
  constexpr const char* kName = "banded_triangular_solve";
  const int64_t count = known_size(kName, bands, -2), size = known_size(kName, bands, -1);
  if (count < 1 || count > std::max<int64_t>(size, 1)) {
    fail("[", kName, "] of matrices with ", size, " rows there are from 1 to ", size,
         " bands. Received: ", count);
  }
  const Diagonals k = options.lower ? Diagonals(1 - count, 0) : Diagonals(0, count - 1);
  const Tensor matrix = count == 1 ? tidemark::diag(squeeze(bands, Ints{-2}))
                                   : diag(bands, {.k = k, .align = kByRows});
  return triangular_solve(matrix, rhs, options.lower, options.adjoint);
}

}  // namespace tidemark::linalg
