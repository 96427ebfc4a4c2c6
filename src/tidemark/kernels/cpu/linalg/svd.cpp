// Singular values by one-sided Jacobi rotations: columns are turned in pairs until all are
// orthogonal; their lengths are the singular values then. Accurate also for small ones.
#include <tidemark/kernel.h>

#include <algorithm>
#include <cmath>

#include "tidemark/base/interrupt.h"
#include "tidemark/kernels/cpu/linalg/matrices.h"

namespace tidemark::cpu::linalg {

namespace {

constexpr int kMostSweeps = 60;

template <class T>
void rotate(T* p, T* q, int64_t n, Real<T> c, T s) {
  for (int64_t i = 0; i < n; ++i) {
    const T x = p[i], y = q[i];
    p[i] = c * x - conjugate_of(s) * y;
    q[i] = s * x + c * y;
  }
}

/// One problem of rows >= columns, each column contiguous: on return `a` holds orthogonal columns
/// and `v` (columns x columns, may be null) what they were turned by.
template <class T>
void orthogonalise(T* a, T* v, int64_t rows, int64_t columns) {
  const Real<T> limit = std::numeric_limits<Real<T>>::epsilon() * std::sqrt(Real<T>(rows));
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    bool turned = false;
    for (int64_t p = 0; p < columns; ++p) {
      for (int64_t q = p + 1; q < columns; ++q) {
        check_interrupt();
        T *x = a + p * rows, *y = a + q * rows;
        const Real<T> xx = std::real(inner(x, x, rows)), yy = std::real(inner(y, y, rows));
        const T xy = inner(x, y, rows);
        const Real<T> size = std::abs(xy);
        if (!(size > limit * std::sqrt(xx) * std::sqrt(yy))) continue;
        turned = true;
        const Real<T> zeta = (yy - xx) / (2 * size);
        const Real<T> t =
            (zeta >= 0 ? 1 : -1) / (std::abs(zeta) + std::sqrt(Real<T>(1) + zeta * zeta));
        const Real<T> c = 1 / std::sqrt(1 + t * t);
        const T s = xy / size * (c * t);
        rotate(x, y, rows, c, s);
        if (v) rotate(v + p * columns, v + q * columns, columns, c, s);
      }
    }
    if (!turned) return;
  }
}

/// Makes columns [known, wanted) unit vectors orthogonal to those before.
template <class T>
void complete(T* u, int64_t rows, int64_t known, int64_t wanted) {
  int64_t axis = 0;
  for (int64_t k = known; k < wanted; ++axis) {
    check_interrupt();
    if (axis >= rows) return;
    T* column = u + k * rows;
    std::fill_n(column, rows, T(0));
    column[axis] = T(1);
    for (int pass = 0; pass < 2; ++pass) {  // twice is enough
      for (int64_t j = 0; j < k; ++j) {
        const T part = inner(u + j * rows, column, rows);
        for (int64_t i = 0; i < rows; ++i) column[i] -= part * u[j * rows + i];
      }
    }
    const Real<T> length = std::sqrt(std::real(inner(column, column, rows)));
    if (length < Real<T>(0.5) / std::sqrt(Real<T>(rows))) continue;
    for (int64_t i = 0; i < rows; ++i) column[i] /= length;
    ++k;
  }
}

/// Working memory of one matrix, larger side first: a, u (both by columns), v, lengths, order.
template <class T>
struct Work {
  int64_t rows, columns, width;  // width: columns of u that are wanted
  T *a, *u, *v;
  Real<T>* lengths;
  int64_t* order;

  static size_t bytes(int64_t rows, int64_t columns) {
    const auto m = static_cast<size_t>(rows), n = static_cast<size_t>(columns);
    return ((m * n + m * m + n * n) * sizeof(T) + n * (sizeof(Real<T>) + 8) + 2 * 64);
  }
  Work(char* memory, int64_t m, int64_t n, int64_t wanted) : rows(m), columns(n), width(wanted) {
    order = reinterpret_cast<int64_t*>(memory);
    a = reinterpret_cast<T*>(memory + (static_cast<size_t>(n) * 8 + 15) / 16 * 16);
    u = a + m * n;
    v = u + m * m;
    lengths = reinterpret_cast<Real<T>*>(v + n * n);
  }

  /// Lengths from the largest on, u with unit columns.
  void run(bool vectors) {
    if (vectors) {
      std::fill_n(v, columns * columns, T(0));
      for (int64_t i = 0; i < columns; ++i) v[i * columns + i] = T(1);
    }
    orthogonalise(a, vectors ? v : nullptr, rows, columns);
    for (int64_t j = 0; j < columns; ++j) {
      lengths[j] = std::sqrt(std::real(inner(a + j * rows, a + j * rows, rows)));
      order[j] = j;
    }
    std::sort(order, order + columns, [&](int64_t x, int64_t y) {
      return lengths[x] != lengths[y] ? lengths[x] > lengths[y] : x < y;
    });
    if (!vectors) return;
    int64_t known = 0;
    for (; known < columns && lengths[order[known]] > std::numeric_limits<Real<T>>::min();
         ++known) {
      const T* from = a + order[known] * rows;
      for (int64_t i = 0; i < rows; ++i) u[known * rows + i] = from[i] / lengths[order[known]];
    }
    complete(u, rows, known, width);
  }
};

template <class T>
struct Svd {
  static size_t workspace(const OpCall& call, std::span<const Shape>) {
    const Shape& s = call.inputs[0].shape();
    return workspace_of(batch_of(s), bytes(s));
  }
  static size_t bytes(const Shape& s) {
    const int64_t longer = std::max(s.dim(-1), s.dim(-2)), shorter = std::min(s.dim(-1), s.dim(-2));
    return Work<T>::bytes(longer, shorter);
  }

  static void run(KernelContext& k) {
    const Shape& s = k.input(0).shape();
    const int64_t m = s.dim(-2), n = s.dim(-1);
    const int64_t batch = batch_of(s);
    for_each_in_batch(k, batch, bytes(s),
                      [&](int64_t i, char* memory) { one(k, i, m, n, memory); });
  }

  static void one(KernelContext& k, int64_t i, int64_t m, int64_t n, char* memory) {
    const bool vectors = k.attr("compute_uv").as_bool(), full = k.attr("full_matrices").as_bool();
    const int64_t p = std::min(m, n), longer = std::max(m, n);
    const T* a = k.in<T>(0) + i * m * n;
    const bool tall = m >= n;
    Work<T> work(memory, longer, p, full ? longer : p);
    bool finite = true;
    for (int64_t r = 0; r < m; ++r) {
      for (int64_t c = 0; c < n; ++c) {
        const T value = a[r * n + c];
        finite = finite && is_finite(value);
        // A wide matrix is worked on as its adjoint.
        work.a[tall ? c * m + r : r * n + c] = tall ? value : conjugate_of(value);
      }
    }
    if (finite) work.run(vectors);
    for (int64_t j = 0; j < p; ++j) {
      k.out<Real<T>>(0)[i * p + j] = finite ? work.lengths[work.order[j]] : nan_of<Real<T>>();
    }
    if (!vectors) return;
    const int64_t width_u = full ? m : p, width_v = full ? n : p;
    T *u = k.out<T>(1) + i * m * width_u, *v = k.out<T>(2) + i * n * width_v;
    if (!finite) {
      std::fill_n(u, m * width_u, nan_of<T>());
      std::fill_n(v, n * width_v, nan_of<T>());
      return;
    }
    T *longer_side = tall ? u : v, *shorter_side = tall ? v : u;
    for (int64_t r = 0; r < longer; ++r) {
      for (int64_t j = 0; j < work.width; ++j)
        longer_side[r * work.width + j] = work.u[j * longer + r];
    }
    for (int64_t r = 0; r < p; ++r) {
      for (int64_t j = 0; j < p; ++j) shorter_side[r * p + j] = work.v[work.order[j] * p + r];
    }
  }
};

const TypedKernelsOf<KernelKind::cpu, Svd, float, double, std::complex<float>, std::complex<double>>
    svd("svd");

}  // namespace

}  // namespace tidemark::cpu::linalg
