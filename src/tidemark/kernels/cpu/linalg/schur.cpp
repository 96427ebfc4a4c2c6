#include "tidemark/kernels/cpu/linalg/schur.h"
#include "tidemark/base/interrupt.h"

namespace tidemark::cpu::linalg {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kMostSteps = 60;  // for one eigenvalue; two or three are usual

/// a becomes a H^H, of which columns [first, n) change.
void reflect_from_right(Square a, int64_t first, const Complex* v, Complex tau, Complex* scratch) {
  std::fill_n(scratch, a.n, Complex(0));
  for (int64_t j = first; j < a.n; ++j) {
    add_multiple(scratch, v[j - first], a.column(j), a.n);
  }
  for (int64_t j = first; j < a.n; ++j) {
    add_multiple(a.column(j), -conjugate_of(times(tau, v[j - first])), scratch, a.n);
  }
}

/// Only one diagonal below the main one stays.
void make_hessenberg(Square t, Square q, Complex* scratch) {
  for (int64_t k = 0; k + 2 < t.n; ++k) {
    check_interrupt();
    Complex* v = t.column(k) + k + 1;
    const int64_t size = t.n - k - 1;
    const Reflection<Complex> h = make_reflection(v, size);
    if (h.tau != Complex(0)) {
      reflect_columns(t.column(k + 1) + k + 1, t.n, size, v, h.tau, size);
      reflect_from_right(t, k + 1, v, h.tau, scratch);
      if (q.data) reflect_from_right(q, k + 1, v, h.tau, scratch);
    }
    v[0] = h.beta;
    std::fill_n(v + 1, size - 1, Complex(0));
  }
}

/// The eigenvalue of the block that ends at row `last` that is nearer to its last element.
Complex shift_at(Square t, int64_t last) {
  const Complex a = t(last - 1, last - 1), d = t(last, last);
  const Complex half = (a - d) / 2.0;
  const Complex root = std::sqrt(half * half + t(last - 1, last) * t(last, last - 1));
  const Complex sum = half + root, difference = half - root;
  return d + (std::abs(sum) < std::abs(difference) ? sum : difference);
}

/// (c, s; -conj(s), c) takes (x, y) to (r, 0).
struct Rotation {
  double c;
  Complex s;
  Rotation(Complex x, Complex y) {
    const double size_x = std::abs(x), length = std::hypot(size_x, std::abs(y));
    c = length == 0 ? 1 : size_x / length;
    s = length == 0   ? Complex(0)
        : size_x == 0 ? conjugate_of(y) / length
                      : x / size_x * conjugate_of(y) / length;
  }
};

void turn_rows(Square t, int64_t k, int64_t first_column, const Rotation& g) {
  for (int64_t j = first_column; j < t.n; ++j) {
    Complex* pair = t.column(j) + k;
    const Complex x = pair[0], y = pair[1];
    pair[0] = g.c * x + times(g.s, y);
    pair[1] = g.c * y - times(conjugate_of(g.s), x);
  }
}

void turn_columns(Square t, int64_t k, int64_t rows, const Rotation& g) {
  Complex *p = t.column(k), *q = t.column(k + 1);
  for (int64_t i = 0; i < rows; ++i) {
    const Complex x = p[i], y = q[i];
    p[i] = g.c * x + times(conjugate_of(g.s), y);
    q[i] = g.c * y - times(g.s, x);
  }
}

void qr_step(Square t, Square q, int64_t first, int64_t last, Complex shift) {
  Complex x = t(first, first) - shift, y = t(first + 1, first);
  for (int64_t k = first; k < last; ++k) {
    check_interrupt();
    const Rotation g(x, y);
    turn_rows(t, k, std::max(k - 1, first), g);
    turn_columns(t, k, std::min(k + 3, last + 1), g);
    if (q.data) turn_columns(q, k, q.n, g);
    if (k > first) t(k + 1, k - 1) = 0;
    if (k + 1 == last) break;
    x = t(k + 1, k);
    y = t(k + 2, k);
  }
}

}  // namespace

bool make_schur(Square t, Square q, Complex* scratch) {
  if (q.data) {
    std::fill_n(q.data, q.size(), Complex(0));
    for (int64_t i = 0; i < q.n; ++i) q(i, i) = 1;
  }
  make_hessenberg(t, q, scratch);
  double largest = 0;
  for (int64_t i = 0; i < t.size(); ++i) largest = std::max(largest, std::abs(t.data[i]));
  int step = 0;
  for (int64_t last = t.n - 1; last > 0;) {
    int64_t first = last;
    for (; first > 0; --first) {
      double size = std::abs(t(first, first)) + std::abs(t(first - 1, first - 1));
      if (size == 0) size = largest;
      if (std::abs(t(first, first - 1)) <= kEpsilon * size) {
        t(first, first - 1) = 0;
        break;
      }
    }
    if (first == last) {
      --last;
      step = 0;
      continue;
    }
    if (++step > kMostSteps) return false;
    // Now and then another shift, for matrices on which the usual one goes round in circles.
    const Complex shift =
        step % 11 == 10 ? t(last, last) + std::abs(t(last, last - 1)) : shift_at(t, last);
    qr_step(t, q, first, last, shift);
  }
  return true;
}

void multiply(Square c, Square a, Square b) {
  std::fill_n(c.data, c.size(), Complex(0));
  for (int64_t j = 0; j < c.n; ++j) {
    check_interrupt();
    for (int64_t k = 0; k < c.n; ++k) {
      if (b(k, j) != Complex(0)) add_multiple(c.column(j), b(k, j), a.column(k), c.n);
    }
  }
}

void turn_back(Square t, Square q, Square scratch) {
  multiply(scratch, q, t);
  for (int64_t j = 0; j < q.n; ++j) {  // q becomes its adjoint
    for (int64_t i = 0; i < j; ++i) {
      const Complex upper = q(i, j);
      q(i, j) = conjugate_of(q(j, i));
      q(j, i) = conjugate_of(upper);
    }
    q(j, j) = conjugate_of(q(j, j));
  }
  multiply(t, scratch, q);
}

}  // namespace tidemark::cpu::linalg
