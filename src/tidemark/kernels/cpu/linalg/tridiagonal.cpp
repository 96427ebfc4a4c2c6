// Systems of three diagonals, by elimination along them.
#include <tidemark/kernel.h>

#include <utility>

#include "tidemark/kernels/cpu/linalg/matrices.h"

namespace tidemark::cpu::linalg {

namespace {

template <class T>
struct Tridiagonal {
  /// Four diagonals: row exchanges make a second one above.
  static size_t bytes(int64_t n) { return static_cast<size_t>(4 * n) * sizeof(T); }
  static size_t workspace(const OpCall& call, std::span<const Shape>) {
    const Shape& s = call.inputs[0].shape();
    return workspace_of(batch_of(s), bytes(s.dim(-1)));
  }

  static void run(KernelContext& k) {
    const Shape& s = k.input(0).shape();
    const int64_t n = s.dim(-1), columns = k.output(0).dim(-1);
    const bool pivoting = k.attr("partial_pivoting").as_bool();
    if (n == 0) return;
    for_each_in_batch(k, batch_of(s), bytes(n), [&](int64_t i, char* memory) {
      const T* from = k.in<T>(0) + i * 3 * n;
      T* x = k.out<T>(0) + i * n * columns;
      std::copy_n(k.in<T>(1) + i * n * columns, n * columns, x);
      T *main = reinterpret_cast<T*>(memory), *above = main + n, *second = above + n;
      T* below = second + n;
      std::copy_n(from, n, above);
      above[n - 1] = T(0);
      std::copy_n(from + n, n, main);
      std::copy_n(from + 2 * n, n, below);
      std::fill_n(second, n, T(0));
      eliminate(k, {main, above, second, below}, x, n, columns, pivoting);
    });
  }

  struct Diagonals {
    T *main, *above, *second, *below;
  };

  static void eliminate(KernelContext& k, const Diagonals& d, T* x, int64_t n, int64_t columns,
                        bool pivoting) {
    for (int64_t i = 0; i + 1 < n; ++i) {
      T *row = x + i * columns, *next = row + columns;
      if (pivoting && std::abs(d.below[i + 1]) > std::abs(d.main[i])) {
        std::swap(d.main[i], d.below[i + 1]);
        std::swap(d.above[i], d.main[i + 1]);
        std::swap(d.second[i], d.above[i + 1]);
        std::swap_ranges(row, next, next);
      }
      check(k, d.main[i], i);
      const T factor = d.below[i + 1] / d.main[i];
      d.main[i + 1] -= factor * d.above[i];
      d.above[i + 1] -= factor * d.second[i];
      add_multiple(next, -factor, row, columns);
    }
    check(k, d.main[n - 1], n - 1);
    for (int64_t i = n; i-- > 0;) {
      T* row = x + i * columns;
      if (i + 1 < n) add_multiple(row, -d.above[i], row + columns, columns);
      if (i + 2 < n) add_multiple(row, -d.second[i], row + 2 * columns, columns);
      for (int64_t c = 0; c < columns; ++c) row[c] /= d.main[i];
    }
  }

  static void check(const KernelContext& k, T pivot, int64_t row) {
    if (pivot == T(0)) k.fail("The matrix is not invertible: its pivot in row ", row, " is 0");
  }
};

const TypedKernelsOf<KernelKind::cpu, Tridiagonal, float, double, std::complex<float>,
                     std::complex<double>>
    tridiagonal("tridiagonal_solve");

}  // namespace

}  // namespace tidemark::cpu::linalg
