// Discrete Fourier transforms of one line: products of small primes by butterflies, other lengths
// as a convolution (Bluestein's algorithm) of a length that is a power of two.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "tidemark/base/interrupt.h"

namespace tidemark::cpu {

template <class T>
struct Complex {
  T re, im;
};
template <class T>
Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
/// Without the checks for infinities that std::complex makes.
template <class T>
Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T>
Complex<T> conjugate(Complex<T> a) {
  return {a.re, -a.im};
}

/// fn(i) for i below n, in pieces between which it can be stopped.
template <class Fn>
void each(int64_t n, const Fn& fn) {
  constexpr int64_t kPiece = 1 << 16;
  for (int64_t begin = 0; begin < n; begin += kPiece) {
    const int64_t end = std::min(n, begin + kPiece);
    for (int64_t i = begin; i < end; ++i) fn(i);
    if (end < n) check_interrupt();
  }
}

/// The largest prime that butterflies take; their work grows with it.
inline constexpr int64_t kLargestRadix = 31;

inline bool has_small_factors(int64_t n) {
  for (int64_t p = 2; p <= kLargestRadix; ++p) {
    while (n % p == 0) n /= p;
  }
  return n <= 1;
}

/// The length whose butterflies are used for lines of n.
inline int64_t fft_work_length(int64_t n) {
  if (has_small_factors(n)) return n;
  int64_t m = 1;
  while (m < 2 * n - 1) m *= 2;
  return m;
}

/// Tables for one length. They lie in memory the caller gives: table_elements(n) numbers, and
/// line_elements(n) more for each line transformed at the same time.
template <class T>
class FftPlan {
 public:
  static int64_t table_elements(int64_t n) {
    const int64_t m = fft_work_length(n);
    return m == n ? n : 2 * m + n;
  }
  static int64_t line_elements(int64_t n) { return 2 * fft_work_length(n); }

  /// `memory` holds table_elements(n); `line` is used while tables are made.
  FftPlan(int64_t n, Complex<T>* memory, Complex<T>* line)
      : n_(n), m_(fft_work_length(n)), roots_(memory), spectrum_(memory + m_), chirp_(nullptr) {
    each(m_, [&](int64_t i) { roots_[i] = root(i, m_); });
    if (m_ == n_) return;
    chirp_ = spectrum_ + m_;
    each(n_, [&](int64_t i) { chirp_[i] = root(i * i % (2 * n_), 2 * n_); });
    each(m_, [&](int64_t i) { line[i] = {0, 0}; });
    each(n_, [&](int64_t i) {
      line[i] = conjugate(chirp_[i]);
      if (i > 0) line[m_ - i] = conjugate(chirp_[i]);
    });
    const Complex<T>* transformed = butterflies(line, line + m_);
    each(m_, [&](int64_t i) { spectrum_[i] = transformed[i]; });
  }

  /// Transforms the n numbers at the front of `line` (line_elements(n) long), with exponents of
  /// negative sign; returns where in `line` the result lies.
  Complex<T>* run(Complex<T>* line) const {
    if (m_ == n_) return butterflies(line, line + m_);
    each(n_, [&](int64_t i) { line[i] = line[i] * chirp_[i]; });
    each(m_ - n_, [&](int64_t i) { line[n_ + i] = {0, 0}; });
    Complex<T>* a = butterflies(line, line + m_);
    each(m_, [&](int64_t i) { a[i] = conjugate(a[i] * spectrum_[i]); });
    Complex<T>* b = butterflies(a, a == line ? line + m_ : line);
    const T scale = T(1) / static_cast<T>(m_);
    each(n_, [&](int64_t i) {
      const Complex<T> c = conjugate(b[i]) * chirp_[i];
      b[i] = {c.re * scale, c.im * scale};
    });
    return b;
  }

 private:
  /// exp(-2 pi i k / n), worked out in double.
  static Complex<T> root(int64_t k, int64_t n) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    return {static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle))};
  }

  static int64_t next_radix(int64_t n) {
    if (n % 4 == 0) return 4;
    for (int64_t p = 2; p <= kLargestRadix; ++p) {
      if (n % p == 0) return p;
    }
    return n;
  }

  /// Stockham's order: every pass reads one half of the line and writes the other, and the result
  /// comes out sorted.
  Complex<T>* butterflies(Complex<T>* x, Complex<T>* y) const {
    constexpr int64_t kPiece = 1 << 18;
    int64_t stride = 1;
    for (int64_t length = m_; length > 1;) {
      const int64_t radix = next_radix(length), parts = length / radix;
      const int64_t most = std::max<int64_t>(kPiece / (radix * radix), 1);
      for (int64_t p = 0; p < parts; ++p) {
        const Complex<T>* from = x + stride * p;
        Complex<T>* to = y + stride * radix * p;
        int64_t q = 0;
        do {
          const int64_t end = std::min(stride, q + most);
          if (radix == 4) {
            pass4(from, to, stride, parts, p, q, end);
          } else {
            pass(from, to, radix, stride, parts, p, q, end);
          }
          q = end;
          if (q < stride) check_interrupt();
        } while (q < stride);
        if (p % 64 == 0) check_interrupt();
      }
      Complex<T>* const swap = x;
      x = y;
      y = swap;
      stride *= radix;
      length = parts;
    }
    return x;
  }

  /// Columns [begin, end) of part p.
  void pass4(const Complex<T>* from, Complex<T>* to, int64_t stride, int64_t parts, int64_t p,
             int64_t begin, int64_t end) const {
    const Complex<T> w1 = roots_[stride * p], w2 = roots_[2 * stride * p],
                     w3 = roots_[3 * stride * p];
    const int64_t step = stride * parts;
    for (int64_t q = begin; q < end; ++q) {
      const Complex<T> a = from[q], b = from[q + step], c = from[q + 2 * step],
                       d = from[q + 3 * step];
      const Complex<T> ac = a + c, bd = b + d, a_c = a - c, b_d = b - d;
      const Complex<T> turned{b_d.im, -b_d.re};  // times -i
      to[q] = ac + bd;
      to[q + stride] = (a_c + turned) * w1;
      to[q + 2 * stride] = (ac - bd) * w2;
      to[q + 3 * stride] = (a_c - turned) * w3;
    }
  }

  void pass(const Complex<T>* from, Complex<T>* to, int64_t radix, int64_t stride, int64_t parts,
            int64_t p, int64_t begin, int64_t end) const {
    const int64_t step = stride * parts, turn = m_ / radix;
    for (int64_t k = 0; k < radix; ++k) {
      const Complex<T> w = roots_[stride * p * k % m_];
      for (int64_t q = begin; q < end; ++q) {
        Complex<T> sum = from[q];
        for (int64_t j = 1; j < radix; ++j)
          sum = sum + from[q + j * step] * roots_[j * k % radix * turn];
        to[q + k * stride] = sum * w;
      }
    }
  }

  int64_t n_, m_;
  Complex<T>* roots_;     // m
  Complex<T>* spectrum_;  // m, of the chirp; unused when m is n
  Complex<T>* chirp_;     // n
};

}  // namespace tidemark::cpu
