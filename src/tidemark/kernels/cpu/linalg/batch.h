// Going over the matrices in the last two dimensions, several at a time.
#pragma once

#include <tidemark/kernel.h>

#include <algorithm>
#include <complex>
#include <limits>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/linalg/eigen.h"

namespace tidemark::cpu::linalg {

template <class T>
using RowMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using RowMap = Eigen::Map<RowMatrix<T>>;
template <class T>
using ConstRowMap = Eigen::Map<const RowMatrix<T>>;

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

/// Product of all dimensions but the last `inner`.
inline int64_t batch_of(const Shape& shape, int inner = 2) {
  int64_t count = 1;
  for (int i = 0; i < shape.rank() - inner; ++i) count *= shape[i];
  return count;
}

/// Bytes of scratch for one matrix of a kernel that makes `matrices` temporaries of rows x columns
/// and some vectors.
inline size_t scratch_bytes(size_t element, int64_t rows, int64_t columns, int64_t matrices) {
  const int64_t longest = std::max(rows, columns);
  const int64_t elements = matrices * rows * columns + 12 * longest;
  return (static_cast<size_t>(elements) * element + 24 * 128 + 63) / 64 * 64;
}

/// How many matrices are worked on at a time: as many have scratch.
inline int64_t lanes(int64_t batch) {
  return std::max<int64_t>(1, std::min<int64_t>(batch, num_threads()));
}

/// Calls fn(i) for every matrix, each with `bytes` of the workspace as scratch; the workspace holds
/// lanes(batch) times as much.
template <class Fn>
void for_each_matrix(KernelContext& k, int64_t batch, size_t bytes, const Fn& fn) {
  if (batch == 0) return;
  const int64_t count = lanes(batch);
  const int64_t each = (batch + count - 1) / count;
  char* const memory = k.workspace<char>();
  parallel_for(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t lane = begin; lane < end; ++lane) {
      const int64_t last = std::min(batch, (lane + 1) * each);
      for (int64_t i = lane * each; i < last; ++i) {
        const ScratchScope scratch(memory + static_cast<size_t>(lane) * bytes, bytes);
        fn(i);
      }
    }
  });
}

}  // namespace tidemark::cpu::linalg
