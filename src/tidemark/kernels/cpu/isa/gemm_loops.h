// Our own matrix product of any dtype but float32 and float64 (product_loops.h), and of a matrix
// and a vector: blocked, vectorised, one table an instruction-set level.
#pragma once

#include <tidemark/dtype.h>

namespace tidemark::cpu {

/// A matrix in memory; strides count elements, so a transposed one has its strides swapped.
struct MatrixView {
  const void* data;
  int64_t rows, columns;
  int64_t row_stride, column_stride;
  bool conjugate = false;
};

struct GemmLoops {
  int64_t panel_columns = 0;  // columns of B packed together
  int64_t panel_rows = 0;     // rows of A computed together
  int64_t column_bytes = 0;   // bytes a packed column takes for each row of B
  /// Packs columns [panel * panel_columns, …) of B over all its rows, zeros behind the last one.
  void (*pack)(const MatrixView& b, int64_t panel, void* out) = nullptr;
  /// Rows [row_begin, row_end) times the packed panels [panel_begin, panel_end), at most
  /// kGemmPanels of them, into C of `columns` contiguous columns.
  void (*multiply)(const MatrixView& a, int64_t row_begin, int64_t row_end, const void* packed,
                   int64_t panel_begin, int64_t panel_end, void* c, int64_t columns) = nullptr;
};
inline constexpr int64_t kGemmPanels = 4;

/// y[o] = sum over k of x[k] * matrix[o * output_stride + k * inner_stride] for outputs
/// [begin, end). One of the strides is 1.
using Gemv = void (*)(const void* x, const void* matrix, int64_t inner, int64_t output_stride,
                      int64_t inner_stride, int64_t begin, int64_t end, void* y);

struct GemmTable {
  GemmLoops gemm[kDTypeSlots];  // not of float32 and float64
  Gemv gemv[kDTypeSlots];       // floats only
};

/// The table of the best level this CPU has.
const GemmTable& gemm_loops();

}  // namespace tidemark::cpu
