// Products, solutions and factors of large matrices by Eigen, in pieces of a few milliseconds
// between which the work can be stopped. Elements are computed as Eigen would in one go: matrices
// are cut across what is summed over only where Eigen cuts them, too.
#pragma once

#include "tidemark/base/interrupt.h"
#include "tidemark/kernels/cpu/linalg/batch.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>

namespace tidemark::cpu::linalg {

using Eigen::Index;

/// Products of two numbers in a piece: about 5 ms by instructions that every processor has.
template <class T>
constexpr Index products_a_piece() {
  const Index cost =
      (sizeof(Real<T>) == sizeof(double) ? 2 : 1) * (sizeof(T) > sizeof(Real<T>) ? 4 : 1);
  return (Index{1} << 25) / cost;
}

/// to = from, rows at a time.
template <class To, class From>
void assign(To&& to, const From& from) {
  const Index height = std::max<Index>((Index{1} << 20) / std::max<Index>(to.cols(), 1), 1);
  for (Index r = 0; r < to.rows(); r += height) {
    const Index rows = std::min(height, to.rows() - r);
    check_interrupt();
    to.middleRows(r, rows) = from.middleRows(r, rows);
  }
}

/// A matrix, or its adjoint, as blocks that Eigen knows how to multiply with.
template <class M, bool kAdjoint>
struct Coefficients {
  const M& matrix;

  Index rows() const { return matrix.rows(); }
  auto all() const {
    if constexpr (kAdjoint) {
      return matrix.adjoint();
    } else {
      return matrix.block(0, 0, matrix.rows(), matrix.cols());
    }
  }
  auto block(Index row, Index column, Index rows, Index columns) const {
    if constexpr (kAdjoint) {
      return matrix.block(column, row, columns, rows).adjoint();
    } else {
      return matrix.block(row, column, rows, columns);
    }
  }
};

/// y -= a b, where a is `rows` x b.rows() at (row, column) of the coefficients.
template <class Y, class A, class B>
void subtract_product(Y&& y, const A& a, Index row, Index column, const B& b) {
  using T = typename std::decay_t<Y>::Scalar;
  constexpr Index kRows = 2048, kLeastColumns = 16;
  const Index depth = b.rows();
  for (Index r = 0; r < y.rows(); r += kRows) {
    const Index height = std::min(kRows, y.rows() - r);
    const Index fit = products_a_piece<T>() / (height * std::max<Index>(depth, 1));
    const Index width = std::max(fit / kLeastColumns, Index{1}) * kLeastColumns;
    for (Index c = 0; c < y.cols(); c += width) {
      const Index columns = std::min(width, y.cols() - c);
      check_interrupt();
      y.block(r, c, height, columns).noalias() -=
          a.block(row + r, column, height, depth) * b.middleCols(c, columns);
    }
  }
}

/// Solves a triangular system in place. `kMode`: Eigen's Lower, Upper, UnitLower.
template <int kMode, class A, class X>
void solve_triangular(const A& a, X&& x) {
  constexpr Index kBlock = 256;
  constexpr bool kLower = (kMode & Eigen::Lower) != 0;
  using T = typename std::decay_t<X>::Scalar;
  const Index n = a.rows(), blocks = (n + kBlock - 1) / kBlock;
  const Index width = std::max<Index>(products_a_piece<T>() / (kBlock * kBlock), 16);
  if (n <= kBlock && x.cols() <= width) {
    a.all().template triangularView<kMode>().solveInPlace(x);
    return;
  }
  for (Index i = 0; i < blocks; ++i) {
    const Index first = (kLower ? i : blocks - 1 - i) * kBlock;
    const Index size = std::min(kBlock, n - first), end = first + size;
    auto solved = x.middleRows(first, size);
    for (Index c = 0; c < x.cols(); c += width) {
      check_interrupt();
      auto part = solved.middleCols(c, std::min(width, x.cols() - c));
      a.block(first, first, size, size).template triangularView<kMode>().solveInPlace(part);
    }
    if (kLower) subtract_product(x.bottomRows(n - end), a, end, first, solved);
    if (!kLower) subtract_product(x.topRows(first), a, 0, first, solved);
  }
}

/// The lower triangle of `a` becomes its Cholesky factor. False: it is not positive definite.
template <class M>
bool factor_cholesky(M& a) {
  using T = typename M::Scalar;
  using Factor = Eigen::internal::llt_inplace<T, Eigen::Lower>;
  const Index n = a.rows();
  if (n < 256) return Factor::blocked(a) == -1;
  constexpr Index kBlock = 128, kRows = 512;
  for (Index k = 0; k < n; k += kBlock) {
    const Index size = std::min(kBlock, n - k), rest = n - k - size;
    auto corner = a.block(k, k, size, size);
    check_interrupt();
    if (Factor::unblocked(corner) >= 0) return false;
    auto below = a.block(k + size, k, rest, size);
    for (Index r = 0; r < rest; r += kRows) {
      auto rows = below.middleRows(r, std::min(kRows, rest - r));
      check_interrupt();
      corner.adjoint()
          .template triangularView<Eigen::Upper>()
          .template solveInPlace<Eigen::OnTheRight>(rows);
    }
    auto trailing = a.bottomRightCorner(rest, rest);
    const Coefficients<decltype(below), false> factors{below};
    for (Index r = 0; r < rest; r += kRows) {
      const Index height = std::min(kRows, rest - r);
      subtract_product(trailing.block(r, 0, height, r), factors, r, 0, below.topRows(r).adjoint());
      check_interrupt();
      trailing.block(r, r, height, height)
          .template selfadjointView<Eigen::Lower>()
          .rankUpdate(below.middleRows(r, height), Real<T>(-1));
    }
  }
  return true;
}

/// A matrix as rows in another order, a lower and an upper triangle: P a = L U.
template <class T>
class LuFactors {
 public:
  template <class A>
  explicit LuFactors(const A& a) : lu_(a.rows(), a.cols()), exchanges_(a.rows()), order_(a.rows()) {
    assign(lu_, a);
    factor(lu_.rows(), lu_.cols(), lu_.data(), exchanges_.indices().data(), kWidest);
    order_ = exchanges_;
  }

  /// L below the diagonal, which is all ones, and U.
  const Matrix<T>& both() const { return lu_; }
  const Eigen::PermutationMatrix<Eigen::Dynamic>& order() const { return order_; }
  /// -1: an odd number of rows changed places.
  int sign() const { return exchanged_ % 2 ? -1 : 1; }
  T determinant() const { return T(static_cast<Real<T>>(sign())) * lu_.diagonal().prod(); }

  /// x = a^-1 b
  template <class X, class B>
  void solve(X& x, const B& b) const {
    for (Index i = 0; i < b.rows(); ++i) {
      check_interrupt();
      x.row(order_.indices()(i)) = b.row(i);
    }
    solve_ordered(x);
  }
  /// x = a^-1
  template <class X>
  void invert(X& x) const {
    for (Index i = 0; i < x.rows(); ++i) {
      check_interrupt();
      x.row(order_.indices()(i)) = Vector<T>::Unit(x.cols(), i).transpose();
    }
    solve_ordered(x);
  }

 private:
  /// x becomes a^-1 x, where its rows are in order.
  template <class X>
  void solve_ordered(X& x) const {
    const Coefficients<Matrix<T>, false> a{lu_};
    solve_triangular<Eigen::UnitLower>(a, x);
    solve_triangular<Eigen::Upper>(a, x);
  }

  static constexpr Index kNarrow = 16, kWidest = 256;
  using Strided = Eigen::Map<Matrix<T>, 0, Eigen::OuterStride<>>;

  /// Eigen's order of work: blocks of columns, each in narrower ones, then what is right of it.
  void factor(Index rows, Index columns, T* data, int* exchanges, Index widest) {
    using Panel = Eigen::internal::partial_lu_impl<T, Eigen::ColMajor, int>;
    const Index stride = lu_.rows(), size = std::min(rows, columns);
    if (size <= kNarrow) {
      int exchanged = 0;
      check_interrupt();
      Panel::blocked_lu(rows, columns, data, stride, exchanges, exchanged);
      exchanged_ += exchanged;
      return;
    }
    const Index block = std::clamp<Index>(size / 8 / 16 * 16, 8, widest);
    Strided all(data, rows, columns, Eigen::OuterStride<>(stride));
    for (Index k = 0; k < size; k += block) {
      const Index width = std::min(block, size - k), below = rows - k - width;
      factor(rows - k, width, data + k * stride + k, exchanges + k, kNarrow);
      for (Index i = k; i < k + width; ++i) exchanges[i] += static_cast<int>(k);
      exchange_rows(all.leftCols(k), exchanges, k, width);
      const Index right = columns - k - width;
      if (right == 0) continue;
      exchange_rows(all.rightCols(right), exchanges, k, width);
      const Coefficients<Strided, false> left{all};
      auto top = all.block(k, k + width, width, right);
      const auto corner = all.block(k, k, width, width);
      solve_triangular<Eigen::UnitLower>(Coefficients<decltype(corner), false>{corner}, top);
      subtract_product(all.bottomRightCorner(below, right), left, k + width, k, top);
    }
  }

  template <class Columns>
  static void exchange_rows(Columns&& columns, const int* exchanges, Index first, Index count) {
    constexpr Index kColumns = 256;  // a piece
    for (Index c = 0; c < columns.cols(); c += kColumns) {
      check_interrupt();
      auto part = columns.middleCols(c, std::min(kColumns, columns.cols() - c));
      for (Index i = first; i < first + count; ++i) part.row(i).swap(part.row(exchanges[i]));
    }
  }

  Matrix<T> lu_;
  Eigen::Transpositions<Eigen::Dynamic> exchanges_;
  Eigen::PermutationMatrix<Eigen::Dynamic> order_;
  int exchanged_ = 0;
};

}  // namespace tidemark::cpu::linalg
