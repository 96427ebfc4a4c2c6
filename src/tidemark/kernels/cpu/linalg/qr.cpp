// Orthogonal and triangular factors by Householder reflections.
#include <tidemark/kernel.h>

#include "tidemark/base/interrupt.h"
#include "tidemark/kernels/cpu/linalg/matrices.h"

namespace tidemark::cpu::linalg {

namespace {

/// Working memory of one matrix: its columns, the factors tau, and the columns of q.
template <class T>
struct Qr {
  static size_t bytes(const Shape& s, bool full) {
    const int64_t m = s.dim(-2), n = s.dim(-1), p = std::min(m, n);
    return static_cast<size_t>(m * n + p + m * (full ? m : p)) * sizeof(T);
  }
  static size_t workspace(const OpCall& call, std::span<const Shape>) {
    const Shape& s = call.inputs[0].shape();
    return workspace_of(batch_of(s), bytes(s, call.attr("full_matrices").as_bool()));
  }

  static void run(KernelContext& k) {
    const Shape& s = k.input(0).shape();
    const bool full = k.attr("full_matrices").as_bool();
    for_each_in_batch(k, batch_of(s), bytes(s, full),
                      [&](int64_t i, char* memory) { one(k, i, reinterpret_cast<T*>(memory)); });
  }

  static void one(KernelContext& k, int64_t i, T* a) {
    const Shape& s = k.input(0).shape();
    const int64_t m = s.dim(-2), n = s.dim(-1), p = std::min(m, n);
    const int64_t width = k.output(0).dim(-1);
    const T* from = k.in<T>(0) + i * m * n;
    for (int64_t r = 0; r < m; ++r) {
      check_interrupt();
      for (int64_t c = 0; c < n; ++c) a[c * m + r] = from[r * n + c];
    }
    T *taus = a + m * n, *q = taus + p;
    T* triangle = k.out<T>(1) + i * width * n;
    std::fill_n(triangle, width * n, T(0));
    for (int64_t j = 0; j < p; ++j) {
      check_interrupt();
      T* v = a + j * m + j;
      const Reflection<T> h = make_reflection(v, m - j);
      taus[j] = h.tau;
      reflect_columns(v + m, m, n - j - 1, v, h.tau, m - j);
      triangle[j * n + j] = h.beta;
      for (int64_t c = j + 1; c < n; ++c) triangle[j * n + c] = a[c * m + j];
    }
    make_q(a, taus, q, m, p, width);
    T* out = k.out<T>(0) + i * m * width;
    for (int64_t r = 0; r < m; ++r) {
      check_interrupt();
      for (int64_t c = 0; c < width; ++c) out[r * width + c] = q[c * m + r];
    }
  }

  /// The product of the reflections' adjoints, its first `width` columns.
  static void make_q(const T* a, const T* taus, T* q, int64_t m, int64_t p, int64_t width) {
    std::fill_n(q, m * width, T(0));
    for (int64_t c = 0; c < width; ++c) q[c * m + c] = T(1);
    for (int64_t j = p; j-- > 0;) {  // columns before j still have zeros below row j
      check_interrupt();
      reflect_columns(q + j * m + j, m, width - j, a + j * m + j, conjugate_of(taus[j]), m - j);
    }
  }
};

const TypedKernelsOf<KernelKind::cpu, Qr, float, double, std::complex<float>, std::complex<double>>
    qr("qr");

}  // namespace

}  // namespace tidemark::cpu::linalg
