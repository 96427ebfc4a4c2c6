// The Schur form of a general matrix, on which eigenvalues, square roots and logarithms are read
// off. All in complex128: rounding in it stays below the accuracy of every dtype asked for.
#pragma once

#include "tidemark/kernels/cpu/linalg/matrices.h"

namespace tidemark::cpu::linalg {

using Complex = std::complex<double>;

/// A square matrix, its columns one after the other.
struct Square {
  Complex* data;
  int64_t n;
  Complex& operator()(int64_t row, int64_t column) const { return data[column * n + row]; }
  Complex* column(int64_t j) const { return data + j * n; }
  int64_t size() const { return n * n; }
};

/// t becomes upper triangular and q unitary with q t q^H the matrix that t was; q.data may be null.
/// `scratch` has n elements. False if it does not converge.
bool make_schur(Square t, Square q, Complex* scratch);

/// c = a b, where c is neither of them.
void multiply(Square c, Square a, Square b);
/// t becomes q t q^H; both others are written over.
void turn_back(Square t, Square q, Square scratch);

/// Reads a matrix stored by rows; false if it is not finite.
template <class T>
bool read_rows(const T* from, Square to) {
  for (int64_t r = 0; r < to.n; ++r) {
    for (int64_t c = 0; c < to.n; ++c) to(r, c) = Complex(from[r * to.n + c]);
  }
  return all_finite(from, to.n * to.n);
}

template <class T>
T narrowed(Complex value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value.real());
  } else {
    return T(value);
  }
}

template <class T>
void write_rows(Square from, T* to) {
  for (int64_t r = 0; r < from.n; ++r) {
    for (int64_t c = 0; c < from.n; ++c) to[r * from.n + c] = narrowed<T>(from(r, c));
  }
}

}  // namespace tidemark::cpu::linalg
