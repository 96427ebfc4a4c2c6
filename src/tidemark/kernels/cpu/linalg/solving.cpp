// Cholesky and LU decompositions, and what is solved with them.
#include <tidemark/kernel.h>

#include <cmath>
#include <type_traits>

#include "tidemark/kernels/cpu/elementwise/broadcast_index.h"
#include "tidemark/kernels/cpu/linalg/in_pieces.h"

namespace tidemark::cpu::linalg {

namespace {

constexpr int64_t kMatrices = 3;  // temporaries of one matrix's size that Eigen makes at most

template <class T>
size_t square_workspace(const OpCall& call, std::span<const Shape>) {
  const Shape& s = call.inputs[0].shape();
  return scratch_bytes(sizeof(T), s.dim(-1), s.dim(-1), kMatrices) *
         static_cast<size_t>(lanes(batch_of(s)));
}

/// fn(matrix number, its elements, its size) for each square matrix of input 0.
template <class T, class Fn>
void for_each_square(KernelContext& k, const Fn& fn) {
  const Shape& s = k.input(0).shape();
  const int64_t n = s.dim(-1);
  for_each_matrix(k, batch_of(s), scratch_bytes(sizeof(T), n, n, kMatrices),
                  [&](int64_t i) { fn(i, ConstRowMap<T>(k.in<T>(0) + i * n * n, n, n), n); });
}

template <class T>
struct Cholesky {
  static size_t workspace(const OpCall& call, std::span<const Shape> outputs) {
    return square_workspace<T>(call, outputs);
  }
  static void run(KernelContext& k) {
    for_each_square<T>(k, [&](int64_t i, const ConstRowMap<T>& a, int64_t n) {
      RowMap<T> l(k.out<T>(0) + i * n * n, n, n);
      assign(l, a);
      for (int64_t r = 0; r < n; ++r) l.row(r).tail(n - r - 1).setZero();
      if (n == 0) return;
      if (!factor_cholesky(l)) {
        k.fail("Cholesky decomposition was not successful. The input might not be valid: matrix ",
               i, " is not positive definite");
      }
    });
  }
};

template <class T>
struct TriangularSolve {
  static size_t workspace(const OpCall&, std::span<const Shape> outputs) {
    const Shape& s = outputs[0];
    return scratch_bytes(sizeof(T), s.dim(-2), s.dim(-1), 2) *
           static_cast<size_t>(lanes(batch_of(s)));
  }
  static void run(KernelContext& k) {
    const Shape &a = k.input(0).shape(), &b = k.input(1).shape(), &y = k.output(0).shape();
    const int64_t n = y.dim(-2), columns = y.dim(-1);
    const Shape batch_y(y.dims().first(static_cast<size_t>(y.rank() - 2)));
    const Shape batch_a(a.dims().first(static_cast<size_t>(a.rank() - 2)));
    const Shape batch_b(b.dims().first(static_cast<size_t>(b.rank() - 2)));
    const bool lower = k.attr("lower").as_bool(), adjoint = k.attr("adjoint").as_bool();
    if (k.output(0).num_elements() == 0) return;
    for_each_matrix(k, batch_of(y), scratch_bytes(sizeof(T), n, columns, 2), [&](int64_t i) {
      const T* matrix = k.in<T>(0) + broadcast_offset(batch_a, batch_y, i) * n * n;
      const T* right = k.in<T>(1) + broadcast_offset(batch_b, batch_y, i) * n * columns;
      const ConstRowMap<T> factor(matrix, n, n);
      for (int64_t d = 0; d < n; ++d) {
        if (factor(d, d) == T(0)) k.fail("Input matrix is not invertible.");
      }
      RowMap<T> x(k.out<T>(0) + i * n * columns, n, columns);
      assign(x, ConstRowMap<T>(right, n, columns));
      const Coefficients<ConstRowMap<T>, false> plain{factor};
      const Coefficients<ConstRowMap<T>, true> turned{factor};
      if (lower && !adjoint) solve_triangular<Eigen::Lower>(plain, x);
      if (!lower && !adjoint) solve_triangular<Eigen::Upper>(plain, x);
      if (lower && adjoint) solve_triangular<Eigen::Upper>(turned, x);
      if (!lower && adjoint) solve_triangular<Eigen::Lower>(turned, x);
    });
  }
};

template <class T>
void check_invertible(KernelContext& k, const LuFactors<T>& lu, int64_t i) {
  if (lu.both().diagonal().cwiseAbs().minCoeff() > Real<T>(0)) return;
  if (lu.both().diagonal().hasNaN()) return;
  k.fail("Input is not invertible. Matrix ", i, " is singular");
}

template <class T>
LuFactors<T> factors_of(const ConstRowMap<T>& a, bool adjoint) {
  return adjoint ? LuFactors<T>(a.adjoint()) : LuFactors<T>(a);
}

template <class T>
struct Solve {
  static size_t workspace(const OpCall&, std::span<const Shape> outputs) {
    const Shape& s = outputs[0];
    return bytes(s.dim(-2), s.dim(-1)) * static_cast<size_t>(lanes(batch_of(s)));
  }
  static size_t bytes(int64_t n, int64_t columns) {
    return scratch_bytes(sizeof(T), n, n, kMatrices) + scratch_bytes(sizeof(T), n, columns, 2);
  }
  static void run(KernelContext& k) {
    const Shape& s = k.output(0).shape();
    const int64_t n = s.dim(-2), columns = s.dim(-1);
    if (k.output(0).num_elements() == 0) return;
    const bool adjoint = k.attr("adjoint").as_bool();
    for_each_matrix(k, batch_of(s), bytes(n, columns), [&](int64_t i) {
      const ConstRowMap<T> a(k.in<T>(0) + i * n * n, n, n);
      const ConstRowMap<T> b(k.in<T>(1) + i * n * columns, n, columns);
      RowMap<T> x(k.out<T>(0) + i * n * columns, n, columns);
      const LuFactors<T> lu = factors_of<T>(a, adjoint);
      check_invertible<T>(k, lu, i);
      lu.solve(x, b);
    });
  }
};

template <class T>
struct Inverse {
  static size_t workspace(const OpCall& call, std::span<const Shape> outputs) {
    return square_workspace<T>(call, outputs);
  }
  static void run(KernelContext& k) {
    const bool adjoint = k.attr("adjoint").as_bool();
    for_each_square<T>(k, [&](int64_t i, const ConstRowMap<T>& a, int64_t n) {
      if (n == 0) return;
      RowMap<T> inverse(k.out<T>(0) + i * n * n, n, n);
      const LuFactors<T> lu = factors_of<T>(a, adjoint);
      check_invertible<T>(k, lu, i);
      lu.invert(inverse);
    });
  }
};

template <class T>
struct Determinant {
  static size_t workspace(const OpCall& call, std::span<const Shape> outputs) {
    return square_workspace<T>(call, outputs);
  }
  static void run(KernelContext& k) {
    for_each_square<T>(k, [&](int64_t i, const ConstRowMap<T>& a, int64_t n) {
      k.out<T>(0)[i] = n == 0 ? T(1) : LuFactors<T>(a).determinant();
    });
  }
};

/// Sign (a number of absolute value 1 for complex matrices, 0 for singular ones) and logarithm of
/// the determinant, of which neither overflows.
template <class T>
struct LogDeterminant {
  /// What a pivot that is not 0 does to the sign; infinite real ones have one, too.
  static T direction(T pivot, Real<T> size) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isinf(pivot)) return std::copysign(T(1), pivot);
    }
    return pivot / size;
  }
  static size_t workspace(const OpCall& call, std::span<const Shape> outputs) {
    return square_workspace<T>(call, outputs);
  }
  static void run(KernelContext& k) {
    for_each_square<T>(k, [&](int64_t i, const ConstRowMap<T>& a, int64_t n) {
      T sign(1), log_abs(0);
      if (n > 0) {
        const LuFactors<T> lu(a);
        sign = T(static_cast<Real<T>>(lu.sign()));
        for (int64_t d = 0; d < n; ++d) {
          const T pivot = lu.both()(d, d);
          const Real<T> size = std::abs(pivot);
          sign = size == Real<T>(0) ? T(0) : sign * direction(pivot, size);
          log_abs += T(std::log(size));
        }
      }
      k.out<T>(0)[i] = sign;
      k.out<T>(1)[i] = log_abs;
    });
  }
};

template <class T, class Index>
void lu_of(KernelContext& k) {
  for_each_square<T>(k, [&](int64_t i, const ConstRowMap<T>& a, int64_t n) {
    if (n == 0) return;
    const LuFactors<T> lu(a);
    assign(RowMap<T>(k.out<T>(0) + i * n * n, n, n), lu.both());
    Index* rows = k.out<Index>(1) + i * n;
    const auto& p = lu.order().indices();
    for (int64_t r = 0; r < n; ++r) rows[p(r)] = static_cast<Index>(r);
    const auto diagonal = lu.both().diagonal().cwiseAbs();
    if (!(diagonal.minCoeff() > Real<T>(0)) && !diagonal.hasNaN()) {
      k.fail("Input is not invertible. Matrix ", i, " is singular");
    }
  });
}

template <class T>
struct Lu {
  static size_t workspace(const OpCall& call, std::span<const Shape> outputs) {
    return square_workspace<T>(call, outputs);
  }
  static void run(KernelContext& k) {
    if (k.output(1).dtype() == DType::int64) {
      lu_of<T, int64_t>(k);
    } else {
      lu_of<T, int32_t>(k);
    }
  }
};

template <template <class> class K>
using ForAll =
    TypedKernelsOf<KernelKind::cpu, K, float, double, std::complex<float>, std::complex<double>>;

const ForAll<Cholesky> cholesky("cholesky");
const ForAll<TriangularSolve> triangular_solve("triangular_solve");
const ForAll<Solve> solve("matrix_solve");
const ForAll<Inverse> inverse("matrix_inverse");
const ForAll<Determinant> determinant("matrix_determinant");
const ForAll<LogDeterminant> log_determinant("log_matrix_determinant");
const ForAll<Lu> lu("lu");

}  // namespace

}  // namespace tidemark::cpu::linalg
