// Words shared by decompositions that work on plain columns: numbers, reflections, batches.
#pragma once

#include <tidemark/kernel.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "tidemark/base/interrupt.h"
#include "tidemark/base/thread_pool.h"

namespace tidemark::cpu::linalg {

template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <class T>
using Real = typename RealOf<T>::type;

template <class T>
constexpr T nan_of() {
  return T(std::numeric_limits<Real<T>>::quiet_NaN());
}

template <class T>
T conjugate_of(T v) {
  return v;
}
template <class R>
std::complex<R> conjugate_of(std::complex<R> v) {
  return {v.real(), -v.imag()};
}

/// Plain products: the operator of std::complex looks after infinities, which nothing here needs.
template <class T>
T times(T a, T b) {
  return a * b;
}
template <class R>
std::complex<R> times(std::complex<R> a, std::complex<R> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <class T>
bool is_finite(T v) {
  return std::isfinite(std::real(v)) && std::isfinite(std::imag(v));
}
template <class T>
bool all_finite(const T* v, int64_t n) {
  return std::all_of(v, v + n, [](T x) { return is_finite(x); });
}

/// a^H b. Eight sums side by side, so that the compiler may use vectors.
template <class T>
T inner(const T* a, const T* b, int64_t n) {
  constexpr int64_t kSums = 8;
  T sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= n; i += kSums) {
    for (int64_t j = 0; j < kSums; ++j) sums[j] += times(conjugate_of(a[i + j]), b[i + j]);
  }
  T sum(0);
  for (; i < n; ++i) sum += times(conjugate_of(a[i]), b[i]);
  for (const T& part : sums) sum += part;
  return sum;
}

/// y += factor x
template <class T>
void add_multiple(T* y, T factor, const T* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] += times(factor, x[i]);
}

/// What turns a vector x into (beta, 0, …): H = I - tau v v^H with v = (1, rest of x on return).
template <class T>
struct Reflection {
  T tau;
  Real<T> beta;
};

/// Writes v over x (v[0] is 1).
template <class T>
Reflection<T> make_reflection(T* x, int64_t n) {
  Real<T> largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    largest = std::max({largest, std::abs(std::real(x[i])), std::abs(std::imag(x[i]))});
  }
  const T first = x[0];
  x[0] = T(1);
  Real<T> rest = 0;  // of the vector divided by `largest`: squares neither overflow nor vanish
  for (int64_t i = 1; i < n && largest > 0; ++i) rest += std::norm(x[i] / largest);
  if (rest == 0 && std::imag(first) == 0) {
    std::fill_n(x + 1, n - 1, T(0));
    return {T(0), std::real(first)};
  }
  const Real<T> length = largest * std::sqrt(std::norm(first / largest) + rest);
  const Real<T> beta = std::real(first) >= 0 ? -length : length;
  const T by = first - beta;
  for (int64_t i = 1; i < n; ++i) x[i] /= by;
  return {conjugate_of((beta - first) / beta), beta};
}

/// Each of `columns` columns, `stride` apart, becomes column - tau v (v^H column).
template <class T>
void reflect_columns(T* a, int64_t stride, int64_t columns, const T* v, T tau, int64_t n) {
  if (tau == T(0)) return;
  for (int64_t j = 0; j < columns; ++j) {
    T* column = a + j * stride;
    add_multiple(column, -times(tau, inner(v, column, n)), v, n);
  }
}

/// Product of all dimensions but the last `inner`.
inline int64_t batch_of(const Shape& shape, int inner = 2) {
  int64_t count = 1;
  for (int i = 0; i < shape.rank() - inner; ++i) count *= shape[i];
  return count;
}

/// How many matrices are worked on at a time: as many have scratch.
inline int64_t lanes(int64_t batch) {
  return std::max<int64_t>(1, std::min<int64_t>(batch, num_threads()));
}

inline size_t rounded_up(size_t bytes) { return (bytes + 63) / 64 * 64; }

/// Workspace of a kernel that needs `bytes` for each matrix it is working on.
inline size_t workspace_of(int64_t batch, size_t bytes) {
  return rounded_up(bytes) * static_cast<size_t>(lanes(batch));
}

/// Calls fn(i, memory) for every matrix, several at a time; each has `bytes` of the workspace.
template <class Fn>
void for_each_in_batch(KernelContext& k, int64_t batch, size_t bytes, const Fn& fn) {
  if (batch == 0) return;
  const int64_t count = lanes(batch), each = (batch + count - 1) / count;
  parallel_for(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t lane = begin; lane < end; ++lane) {
      char* memory = k.workspace<char>() + static_cast<size_t>(lane) * rounded_up(bytes);
      const int64_t last = std::min(batch, (lane + 1) * each);
      for (int64_t i = lane * each; i < last; ++i) {
        check_interrupt();
        fn(i, memory);
      }
    }
  });
}

}  // namespace tidemark::cpu::linalg
