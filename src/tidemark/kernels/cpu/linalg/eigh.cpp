// Eigenvalues and eigenvectors of self-adjoint matrices: reflections make the matrix tridiagonal
// and real, then implicit QL steps with shifts make it diagonal.
#include <tidemark/kernel.h>

#include <utility>

#include "tidemark/base/interrupt.h"
#include "tidemark/kernels/cpu/linalg/matrices.h"

namespace tidemark::cpu::linalg {

namespace {

constexpr int kMostSteps = 60;  // for one eigenvalue; two or three are usual

/// Columns `p` and `q` turned by a real angle.
template <class T>
void turn(T* p, T* q, int64_t n, Real<T> c, Real<T> s) {
  for (int64_t i = 0; i < n; ++i) {
    const T x = p[i], y = q[i];
    p[i] = c * x - s * y;
    q[i] = s * x + c * y;
  }
}

/// One self-adjoint matrix of n columns.
template <class T>
struct SelfAdjoint {
  using R = Real<T>;
  int64_t n;
  T *a, *q, *taus, *product;  // a: columns, both triangles; q: the eigenvectors as columns
  R *d, *e;                   // diagonal and what is beside it
  int64_t* order;

  static size_t bytes(int64_t n, bool vectors) {
    const auto size = static_cast<size_t>(n);
    return ((vectors ? 2 : 1) * size * size + 2 * size) * sizeof(T) + (2 * sizeof(R) + 8) * size;
  }
  SelfAdjoint(char* memory, int64_t size, bool vectors) : n(size) {
    order = reinterpret_cast<int64_t*>(memory);
    d = reinterpret_cast<R*>(order + n);
    e = d + n;
    a = reinterpret_cast<T*>(e + n);
    taus = a + n * n;
    product = taus + n;
    q = vectors ? product + n : nullptr;
  }

  /// Leaves the reflections' vectors below the diagonal of `a`.
  void make_tridiagonal() {
    for (int64_t k = 0; k < n; ++k) {
      check_interrupt();
      d[k] = std::real(a[k * n + k]);
      if (k + 1 == n) break;
      const int64_t size = n - k - 1;
      T* v = a + k * n + k + 1;
      const Reflection<T> h = make_reflection(v, size);
      taus[k] = h.tau;
      e[k] = h.beta;
      T* block = a + (k + 1) * n + k + 1;
      if (h.tau != T(0)) reflect_both_sides(block, v, h.tau, size);
    }
    if (n > 0) e[n - 1] = 0;
  }

  /// A becomes H A H^H = A - v w^H - w v^H.
  void reflect_both_sides(T* block, const T* v, T tau, int64_t size) {
    T* w = product;
    for (int64_t j = 0; j < size; ++j) w[j] = inner(block + j * n, v, size);
    const R middle = std::real(inner(v, w, size)) * std::norm(tau) / 2;
    for (int64_t j = 0; j < size; ++j) w[j] = times(conjugate_of(tau), w[j]) - middle * v[j];
    for (int64_t j = 0; j < size; ++j) {
      T* column = block + j * n;
      const T by_v = conjugate_of(w[j]), by_w = conjugate_of(v[j]);
      for (int64_t i = 0; i < size; ++i) column[i] -= times(v[i], by_v) + times(w[i], by_w);
    }
  }

  void make_q() {
    std::fill_n(q, n * n, T(0));
    for (int64_t i = 0; i < n; ++i) q[i * n + i] = T(1);
    for (int64_t k = n - 1; k-- > 0;) {
      check_interrupt();
      const int64_t size = n - k - 1;
      T* block = q + (k + 1) * n + k + 1;
      reflect_columns(block, n, size, a + k * n + k + 1, conjugate_of(taus[k]), size);
    }
  }

  /// The last row of the unreduced block that begins at `first`.
  int64_t end_of_block(int64_t first) const {
    int64_t last = first;
    for (; last + 1 < n; ++last) {
      const R size = std::abs(d[last]) + std::abs(d[last + 1]);
      if (std::abs(e[last]) <= std::numeric_limits<R>::epsilon() * size) break;
    }
    return last;
  }

  /// False if it does not converge.
  bool make_diagonal() {
    for (int64_t first = 0; first < n; ++first) {
      for (int step = 0;; ++step) {
        check_interrupt();
        const int64_t last = end_of_block(first);
        if (last == first) break;
        if (step == kMostSteps) return false;
        ql_step(first, last);
      }
    }
    return true;
  }

  /// One implicit step upwards over rows [first, last], with Wilkinson's shift.
  void ql_step(int64_t first, int64_t last) {
    const R half = (d[first + 1] - d[first]) / (2 * e[first]);
    const R root = std::hypot(half, R(1));
    R bulge = d[last] - d[first] + e[first] / (half + std::copysign(root, half));
    R s = 1, c = 1, shift = 0;
    for (int64_t i = last; i-- > first;) {
      const R f = s * e[i], b = c * e[i];
      const R length = std::hypot(f, bulge);
      e[i + 1] = length;
      if (length == 0) {  // the block falls apart here
        d[i + 1] -= shift;
        e[last] = 0;
        return;
      }
      s = f / length;
      c = bulge / length;
      const R moved = d[i + 1] - shift;
      const R next = (d[i] - moved) * s + 2 * c * b;
      shift = s * next;
      d[i + 1] = moved + shift;
      bulge = c * next - b;
      if (q) turn(q + i * n, q + (i + 1) * n, n, c, s);
    }
    d[first] -= shift;
    e[first] = bulge;
    e[last] = 0;
  }

  bool run() {
    make_tridiagonal();
    if (q) make_q();
    const bool converged = make_diagonal();
    for (int64_t i = 0; i < n; ++i) order[i] = i;
    std::sort(order, order + n,
              [&](int64_t x, int64_t y) { return d[x] != d[y] ? d[x] < d[y] : x < y; });
    return converged;
  }
};

template <class T>
struct Eigh {
  static size_t workspace(const OpCall& call, std::span<const Shape>) {
    const Shape& s = call.inputs[0].shape();
    return workspace_of(batch_of(s), bytes(s.dim(-1), call.attr("compute_v").as_bool()));
  }
  static size_t bytes(int64_t n, bool vectors) { return SelfAdjoint<T>::bytes(n, vectors); }

  static void run(KernelContext& k) {
    const Shape& s = k.input(0).shape();
    const bool vectors = k.attr("compute_v").as_bool();
    for_each_in_batch(k, batch_of(s), bytes(s.dim(-1), vectors),
                      [&](int64_t i, char* memory) { one(k, i, vectors, memory); });
  }

  static void one(KernelContext& k, int64_t i, bool vectors, char* memory) {
    const int64_t n = k.input(0).dim(-1);
    SelfAdjoint<T> work(memory, n, vectors);
    const T* from = k.in<T>(0) + i * n * n;
    bool finite = true;
    for (int64_t r = 0; r < n; ++r) {  // the lower triangle alone is read
      finite = finite && all_finite(from + r * n, r + 1);
      for (int64_t c = 0; c < r; ++c) {
        work.a[c * n + r] = from[r * n + c];
        work.a[r * n + c] = conjugate_of(from[r * n + c]);
      }
      work.a[r * n + r] = std::real(from[r * n + r]);
    }
    Real<T>* values = k.out<Real<T>>(0) + i * n;
    T* columns = vectors ? k.out<T>(1) + i * n * n : nullptr;
    if (!finite || !work.run()) {
      std::fill_n(values, n, nan_of<Real<T>>());
      if (vectors) std::fill_n(columns, n * n, nan_of<T>());
      return;
    }
    for (int64_t j = 0; j < n; ++j) {
      values[j] = work.d[work.order[j]];
      for (int64_t r = 0; vectors && r < n; ++r) {
        columns[r * n + j] = work.q[work.order[j] * n + r];
      }
    }
  }
};

const TypedKernelsOf<KernelKind::cpu, Eigh, float, double, std::complex<float>,
                     std::complex<double>>
    eigh("eigh");

}  // namespace

}  // namespace tidemark::cpu::linalg
