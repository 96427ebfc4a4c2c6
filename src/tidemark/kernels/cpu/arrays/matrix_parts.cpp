// Kernels of diagonals and bands.
#include <tidemark/kernel.h>

#include <algorithm>
#include <cstring>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/arrays/strided_copy.h"
#include "tidemark/ops/strided_spec.h"

namespace tidemark::cpu {

namespace {

using movement::int_at;

/// Columns [from, from + count) of the row are kept, the rest is zero.
void keep_columns(char* to, const char* from, int64_t columns, int64_t first, int64_t end,
                  int64_t element) {
  first = std::clamp<int64_t>(first, 0, columns);
  end = std::clamp<int64_t>(end, first, columns);
  std::memset(to, 0, static_cast<size_t>(first * element));
  std::memmove(to + first * element, from + first * element,
               static_cast<size_t>((end - first) * element));
  std::memset(to + end * element, 0, static_cast<size_t>((columns - end) * element));
}

void band_part_kernel(KernelContext& k) {
  const Tensor& in = k.input(0);
  if (in.num_elements() == 0) return;
  const int64_t rows = in.dim(-2), columns = in.dim(-1);
  for (int i : {1, 2}) {
    if (k.input(i).num_elements() != 1) {
      k.fail("num_lower and num_upper must be scalars; given shape ",
             k.input(i).shape().to_brackets());
    }
  }
  const int64_t lower = int_at(k.input(1), 0), upper = int_at(k.input(2), 0);
  if (lower > rows)
    k.fail("num_lower must be negative or less or equal to number of rows (", rows,
           ") got: ", lower);
  if (upper > columns)
    k.fail("num_upper must be negative or less or equal to number of columns (", columns,
           ") got: ", upper);
  const auto element = static_cast<int64_t>(size_of(in.dtype()));
  const int64_t bytes = columns * element;
  const int64_t grain = std::max<int64_t>(1, kCopyGrainBytes / bytes);
  parallel_for(in.num_elements() / columns, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i % rows;
      keep_columns(k.out<char>(0) + i * bytes, k.in<char>(0) + i * bytes, columns,
                   lower < 0 ? 0 : row - lower, upper < 0 ? columns : row + upper + 1, element);
    }
  });
}

/// Copies between diagonal k of matrices of that many rows and columns and packed values.
enum class Direction { take, put };
void copy_diagonal(Direction direction, void* to, const void* from, int64_t matrices, int64_t rows,
                   int64_t columns, int64_t k, size_t element) {
  const int64_t length =
      std::min(rows + std::min<int64_t>(k, 0), columns - std::max<int64_t>(k, 0));
  if (length <= 0 || matrices == 0) return;
  const int64_t first = (k >= 0 ? k : -k * columns) * static_cast<int64_t>(element);
  const bool take = direction == Direction::take;
  StridedCopy copy(element);
  copy.dim(matrices, take ? length : rows * columns, take ? rows * columns : length);
  copy.dim(length, take ? 1 : columns + 1, take ? columns + 1 : 1);
  if (take) {
    copy.run(to, static_cast<const char*>(from) + first);
  } else {
    copy.run(static_cast<char*>(to) + first, from);
  }
}

int64_t matrices_of(const Tensor& t) {
  return t.num_elements() == 0 ? 0 : t.num_elements() / (t.dim(-1) * t.dim(-2));
}

void diag_part_kernel(KernelContext& k) {
  const Tensor& in = k.input(0);
  copy_diagonal(Direction::take, k.out<void>(0), k.in<void>(0), matrices_of(in), in.dim(-2),
                in.dim(-1), k.attr("k").as_int(), size_of(in.dtype()));
}

void put_diagonal(KernelContext& k, const Tensor& diagonal) {
  const Tensor& out = k.output(0);
  copy_diagonal(Direction::put, k.out<void>(0), diagonal.raw_data(), matrices_of(out), out.dim(-2),
                out.dim(-1), k.attr("k").as_int(), size_of(out.dtype()));
}

void diag_kernel(KernelContext& k) {
  zero_bytes(k.out<void>(0), static_cast<int64_t>(k.output(0).nbytes()));
  put_diagonal(k, k.input(0));
}

void set_diag_kernel(KernelContext& k) {
  if (k.out<void>(0) != k.in<void>(0)) {
    copy_bytes(k.out<void>(0), k.in<void>(0), static_cast<int64_t>(k.output(0).nbytes()));
  }
  put_diagonal(k, k.input(1));
}

TIDEMARK_KERNEL_OF(cpu, band_part, kPlain, band_part_kernel);
TIDEMARK_KERNEL_OF(cpu, diag_part, kPlain, diag_part_kernel);
TIDEMARK_KERNEL_OF(cpu, diag, kPlain, diag_kernel);
TIDEMARK_KERNEL_OF(cpu, set_diag, kPlain, set_diag_kernel);

}  // namespace

}  // namespace tidemark::cpu
