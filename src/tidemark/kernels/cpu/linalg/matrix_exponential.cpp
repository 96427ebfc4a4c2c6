// Exponentials of matrices: a quotient of polynomials near 0, squared as often as needed.
#include <tidemark/kernel.h>

#include <utility>

#include "tidemark/base/interrupt.h"
#include "tidemark/kernels/cpu/linalg/matrices.h"

namespace tidemark::cpu::linalg {

namespace {

/// Square matrices of n columns, one after the other; C is double or complex128.
template <class C>
struct Exponential {
  int64_t n;
  C *a, *a2, *a4, *a6, *odd, *even;

  static constexpr int kMatrices = 6;
  Exponential(C* memory, int64_t size) : n(size) {
    C** const all[] = {&a, &a2, &a4, &a6, &odd, &even};
    for (int i = 0; i < kMatrices; ++i) *all[i] = memory + i * n * n;
  }

  void multiply(C* c, const C* x, const C* y) const {
    std::fill_n(c, n * n, C(0));
    for (int64_t j = 0; j < n; ++j) {
      check_interrupt();
      for (int64_t k = 0; k < n; ++k) add_multiple(c + j * n, y[j * n + k], x + k * n, n);
    }
  }

  double largest_column() const {
    double most = 0;
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += std::abs(a[j * n + i]);
      most = std::max(most, sum);
    }
    return most;
  }

  /// out = c6 A^6 + c4 A^4 + c2 A^2 (+ c0)
  void combine(C* out, double c6, double c4, double c2, double c0) const {
    for (int64_t i = 0; i < n * n; ++i) out[i] = c6 * a6[i] + c4 * a4[i] + c2 * a2[i];
    for (int64_t i = 0; i < n; ++i) out[i * n + i] += c0;
  }

  /// Numerator and denominator of the Padé approximant of degree 13 are even + odd and even - odd.
  void make_polynomials() {
    static constexpr double b[14] = {64764752532480000,
                                     32382376266240000,
                                     7771770303897600,
                                     1187353796428800,
                                     129060195264000,
                                     10559470521600,
                                     670442572800,
                                     33522128640,
                                     1323241920,
                                     40840800,
                                     960960,
                                     16380,
                                     182,
                                     1};
    multiply(a2, a, a);
    multiply(a4, a2, a2);
    multiply(a6, a4, a2);
    combine(even, b[13], b[11], b[9], 0);  // holds the inner part of odd for a moment
    multiply(odd, a6, even);
    combine(even, b[7], b[5], b[3], b[1]);
    for (int64_t i = 0; i < n * n; ++i) even[i] += odd[i];
    multiply(odd, a, even);
    combine(a, b[12], b[10], b[8], 0);
    multiply(even, a6, a);
    combine(a, b[6], b[4], b[2], b[0]);
    for (int64_t i = 0; i < n * n; ++i) even[i] += a[i];
  }

  /// a = (even - odd)^-1 (even + odd), by elimination with row exchanges.
  void divide() {
    C *top = a2, *bottom = a4;
    for (int64_t i = 0; i < n * n; ++i) {
      top[i] = even[i] + odd[i];
      bottom[i] = even[i] - odd[i];
    }
    for (int64_t k = 0; k < n; ++k) {
      check_interrupt();
      C* column = bottom + k * n;
      int64_t pivot = k;
      for (int64_t i = k + 1; i < n; ++i) {
        if (std::abs(column[i]) > std::abs(column[pivot])) pivot = i;
      }
      for (int64_t j = 0; j < n && pivot != k; ++j) {
        std::swap(bottom[j * n + k], bottom[j * n + pivot]);
        std::swap(top[j * n + k], top[j * n + pivot]);
      }
      for (int64_t i = k + 1; i < n; ++i) column[i] /= column[k];
      eliminate(bottom + (k + 1) * n, n - k - 1, column, k);
      eliminate(top, n, column, k);
    }
    for (int64_t j = 0; j < n; ++j) {
      C* x = top + j * n;
      for (int64_t i = n; i-- > 0;) {
        x[i] /= bottom[i * n + i];
        add_multiple(x, -x[i], bottom + i * n, i);
      }
    }
    std::swap(a, a2);
  }
  void eliminate(C* columns, int64_t count, const C* factors, int64_t k) const {
    for (int64_t j = 0; j < count; ++j) {
      C* x = columns + j * n;
      add_multiple(x + k + 1, -x[k], factors + k + 1, n - k - 1);
    }
  }

  /// a becomes e^a.
  void run() {
    constexpr double kReach = 5.371920351148152;  // where degree 13 is exact to double precision
    const double size = largest_column();
    const int halvings = size > kReach ? std::max(0, std::ilogb(size / kReach) + 1) : 0;
    const double by = std::ldexp(1.0, -halvings);
    for (int64_t i = 0; i < n * n; ++i) a[i] *= by;
    make_polynomials();
    divide();
    for (int i = 0; i < halvings; ++i) {
      multiply(a2, a, a);
      std::swap(a, a2);
    }
  }
};

template <class T>
struct Expm {
  using C = std::conditional_t<std::is_floating_point_v<T>, double, std::complex<double>>;

  static size_t bytes(int64_t n) {
    return static_cast<size_t>(Exponential<C>::kMatrices * n * n) * sizeof(C);
  }
  static size_t workspace(const OpCall& call, std::span<const Shape>) {
    const Shape& s = call.inputs[0].shape();
    return workspace_of(batch_of(s), bytes(s.dim(-1)));
  }

  static void run(KernelContext& k) {
    const Shape& s = k.input(0).shape();
    const int64_t n = s.dim(-1);
    for_each_in_batch(k, batch_of(s), bytes(n), [&](int64_t i, char* memory) {
      Exponential<C> work(reinterpret_cast<C*>(memory), n);
      const T* from = k.in<T>(0) + i * n * n;
      T* to = k.out<T>(0) + i * n * n;
      if (!all_finite(from, n * n)) {
        std::fill_n(to, n * n, nan_of<T>());
        return;
      }
      for (int64_t e = 0; e < n * n; ++e) work.a[e % n * n + e / n] = C(from[e]);
      work.run();
      for (int64_t e = 0; e < n * n; ++e) to[e] = static_cast<T>(work.a[e % n * n + e / n]);
    });
  }
};

const TypedKernelsOf<KernelKind::cpu, Expm, float, double, std::complex<float>,
                     std::complex<double>>
    expm("expm");

}  // namespace

}  // namespace tidemark::cpu::linalg
