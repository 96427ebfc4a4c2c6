// Square roots and logarithms of matrices, from their Schur form.
#include <tidemark/kernel.h>

#include "tidemark/base/interrupt.h"
#include "tidemark/kernels/cpu/linalg/schur.h"

namespace tidemark::cpu::linalg {

namespace {

/// u becomes the upper triangular square root of t.
void triangular_root(Square u, Square t) {
  std::fill_n(u.data, u.size(), Complex(0));
  for (int64_t j = 0; j < t.n; ++j) {
    check_interrupt();
    Complex* column = u.column(j);
    std::copy_n(t.column(j), j, column);
    column[j] = std::sqrt(t(j, j));
    for (int64_t i = j; i-- > 0;) {
      // Rows below i of this column are final; what they contribute has been taken off.
      if (column[i] != Complex(0)) column[i] /= u(i, i) + column[j];
      add_multiple(column, -column[i], u.column(i), i);
    }
  }
}

/// x becomes (I + factor t)^-1 x for upper triangular matrices.
void solve_shifted(Square x, Square t, double factor) {
  for (int64_t j = 0; j < x.n; ++j) {
    check_interrupt();
    Complex* column = x.column(j);
    for (int64_t i = j + 1; i-- > 0;) {
      column[i] /= 1.0 + factor * t(i, i);
      add_multiple(column, -factor * column[i], t.column(i), i);
    }
  }
}

/// t, with 1 taken off its diagonal, as the sum of its columns' largest magnitudes.
double distance_from_unit(Square t) {
  double most = 0;
  for (int64_t j = 0; j < t.n; ++j) {
    double sum = std::abs(t(j, j) - 1.0);
    for (int64_t i = 0; i < j; ++i) sum += std::abs(t(i, j));
    most = std::max(most, sum);
  }
  return most;
}

/// t becomes its logarithm: roots are taken until it is near 1, where log(1 + x) is the integral of
/// x / (1 + s x) over s from 0 to 1, by Gauss's rule with 8 nodes exact to the last bit.
void triangular_logarithm(Square t, Square root, Square sum, Complex* diagonal) {
  constexpr double kNear = 0.25;
  constexpr int kMostRoots = 100;
  static constexpr double kNodes[4] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                       0.9602898564975363};
  static constexpr double kWeights[4] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                         0.1012285362903763};
  for (int64_t i = 0; i < t.n; ++i) diagonal[i] = std::log(t(i, i));
  double scale = 1;
  for (int roots = 0; roots < kMostRoots && distance_from_unit(t) > kNear; ++roots) {
    triangular_root(root, t);
    std::copy_n(root.data, root.size(), t.data);
    scale *= 2;
  }
  for (int64_t i = 0; i < t.n; ++i) t(i, i) -= 1.0;
  std::fill_n(sum.data, sum.size(), Complex(0));
  for (int node = 0; node < 8; ++node) {
    const double at = (1 + (node < 4 ? kNodes[node] : -kNodes[node - 4])) / 2;
    std::copy_n(t.data, t.size(), root.data);
    solve_shifted(root, t, at);
    add_multiple(sum.data, Complex(kWeights[node % 4] / 2), root.data, sum.size());
  }
  for (int64_t i = 0; i < t.size(); ++i) t.data[i] = scale * sum.data[i];
  for (int64_t i = 0; i < t.n; ++i) t(i, i) = diagonal[i];
}

/// The square root (or the logarithm) of real matrices is real unless they have an eigenvalue that
/// is real and below 0; then there is none, and the result is NaN.
bool stays_real(Square t) {
  double largest = 0;
  for (int64_t i = 0; i < t.n; ++i) largest = std::max(largest, std::abs(t(i, i)));
  for (int64_t i = 0; i < t.n; ++i) {
    const bool on_axis = std::abs(t(i, i).imag()) <= 1e-14 * largest;
    if (on_axis && t(i, i).real() < -1e-14 * largest) return false;
  }
  return true;
}

template <class T, bool logarithm>
struct MatrixFunction {
  static size_t bytes(int64_t n) {
    return static_cast<size_t>((logarithm ? 4 : 3) * n * n + 2 * n) * sizeof(Complex);
  }
  static size_t workspace(const OpCall& call, std::span<const Shape>) {
    const Shape& s = call.inputs[0].shape();
    return workspace_of(batch_of(s), bytes(s.dim(-1)));
  }

  static void run(KernelContext& k) {
    const Shape& s = k.input(0).shape();
    const int64_t n = s.dim(-1);
    for_each_in_batch(k, batch_of(s), bytes(n), [&](int64_t i, char* memory) {
      const T* from = k.in<T>(0) + i * n * n;
      T* to = k.out<T>(0) + i * n * n;
      if (!one(from, to, n, reinterpret_cast<Complex*>(memory))) {
        std::fill_n(to, n * n, nan_of<T>());
      }
    });
  }

  static bool one(const T* from, T* to, int64_t n, Complex* memory) {
    Complex *vector = memory, *diagonal = memory + n;
    const Square t{diagonal + n, n}, q{t.data + n * n, n}, u{q.data + n * n, n};
    if (!read_rows(from, t) || !make_schur(t, q, vector)) return false;
    if (std::is_floating_point_v<T> && !stays_real(t)) return false;
    if constexpr (logarithm) {
      triangular_logarithm(t, u, Square{u.data + n * n, n}, diagonal);
      turn_back(t, q, u);
      write_rows(t, to);
    } else {
      triangular_root(u, t);
      turn_back(u, q, t);
      write_rows(u, to);
    }
    return true;
  }
};

template <class T>
using SquareRoot = MatrixFunction<T, false>;
template <class T>
using Logarithm = MatrixFunction<T, true>;

const TypedKernelsOf<KernelKind::cpu, SquareRoot, float, double, std::complex<float>,
                     std::complex<double>>
    sqrtm("sqrtm");
const TypedKernelsOf<KernelKind::cpu, Logarithm, float, double, std::complex<float>,
                     std::complex<double>>
    logm("logm");

}  // namespace

}  // namespace tidemark::cpu::linalg
