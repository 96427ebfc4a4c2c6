// Rows combined into rows: what scatter and segment kernels do at each position.
#pragma once

#include <tidemark/dtype.h>

#include <algorithm>
#include <cstdint>

#include "tidemark/base/serial_for.h"
#include "tidemark/base/thread_pool.h"

namespace tidemark::cpu {

enum class Combine { assign, add, subtract, multiply, min, max };

/// to[i] = to[i] combined with from[i].
using CombineRow = void (*)(void* to, const void* from, int64_t count);
/// Null where the dtype has no such operation (min of complex numbers, sums of strings). For bool,
/// adding is or.
CombineRow combine_row(Combine how, DType dtype);

/// to[i] = to[i] / by.
using DivideRow = void (*)(void* to, int64_t count, int64_t by);
DivideRow divide_row(DType dtype);

/// Every element: the one that combining starts from (0, 1, the highest or lowest number).
void fill_neutral(Combine how, DType dtype, void* to, int64_t count);

/// Rows of `row` elements each: to[row_of(i)] combined with from[i] for i in [0, count), in that
/// order; a negative row is left out. Large work is cut by rows of the target, so that every row is
/// combined in the same order by any number of threads.
template <class RowOf>
void combine_rows(Combine how, DType dtype, void* to, int64_t rows, const void* from, int64_t count,
                  int64_t row, const RowOf& row_of) {
  constexpr int64_t kPieces = 16;
  constexpr int64_t kLarge = 1 << 16;
  const CombineRow combine = combine_row(how, dtype);
  const int64_t bytes = row * static_cast<int64_t>(size_of(dtype));
  const int64_t pieces = count * row < kLarge || row < 8 ? 1 : kPieces;
  const int64_t rows_each = (rows + pieces - 1) / pieces;
  parallel_for(pieces, 1, [&](int64_t piece, int64_t) {
    const int64_t first = piece * rows_each, end = std::min(rows, first + rows_each);
    const auto some = [&](int64_t begin, int64_t last) {
      for (int64_t i = begin; i < last; ++i) {
        const int64_t target = row_of(i);
        if (target < first || target >= end) continue;
        combine(static_cast<char*>(to) + target * bytes, static_cast<const char*>(from) + i * bytes,
                row);
      }
    };
    serial_for(count, some, std::max<int64_t>(1, kLarge / std::max<int64_t>(row, 1)));
  });
}

}  // namespace tidemark::cpu
