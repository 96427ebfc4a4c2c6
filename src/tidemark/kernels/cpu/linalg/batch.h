// Going over the matrices in the last two dimensions, several at a time.
#pragma once

#include <tidemark/kernel.h>

#include "tidemark/base/interrupt.h"
#include "tidemark/kernels/cpu/linalg/eigen.h"
#include "tidemark/kernels/cpu/linalg/matrices.h"

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

/// Bytes of scratch for one matrix of a kernel that makes `matrices` temporaries of rows x columns
/// and some vectors.
inline size_t scratch_bytes(size_t element, int64_t rows, int64_t columns, int64_t matrices) {
  const int64_t longest = std::max(rows, columns);
  const int64_t elements = matrices * rows * columns + 12 * longest;
  return (static_cast<size_t>(elements) * element + 24 * 128 + 63) / 64 * 64;
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
        check_interrupt();
        const ScratchScope scratch(memory + static_cast<size_t>(lane) * bytes, bytes);
        fn(i);
      }
    }
  });
}

}  // namespace tidemark::cpu::linalg
