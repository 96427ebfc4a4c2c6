// The inner loops of products of float matrices, one table an instruction-set level. Both factors
// are read where they lie; columns of B that are not contiguous are packed first.
#pragma once

#include <tidemark/dtype.h>

#include "tidemark/kernels/cpu/isa/gemm_loops.h"

namespace tidemark::cpu {

/// C (+)= A * B for some rows and columns of a product and some of its depth. Each element of C is
/// summed up in the order of depth, one step after the other: however a product is cut into parts,
/// its bits are the same.
struct ProductPart {
  int64_t rows, columns, depth;
  const void* a;
  int64_t a_row_stride, a_step;  // elements to the next row, to the next step of depth
  const void* b;                 // `depth` rows of contiguous elements, or packed
  int64_t b_stride;              // from row to row; not of packed ones
  int64_t b_elements;            // readable from b on; not of packed ones
  bool is_packed;
  void* c;
  int64_t c_stride;
  bool adds;  // to what C holds; else C starts at zero
};

struct ProductLoops {
  int64_t lanes = 0;          // elements of a vector
  int64_t panel_columns = 0;  // that are computed side by side; parts are best whole panels
  int64_t panel_rows = 0;     // that are computed together
  int64_t packing_rows = 0;   // from so many rows of A on, packing B pays where it is no must
  void (*multiply)(const ProductPart& part) = nullptr;
  /// Packs all of B: its rows times its columns, rounded up to whole vectors.
  void (*pack)(const MatrixView& b, void* out) = nullptr;
};

struct ProductTable {
  ProductLoops of_float, of_double;
};

}  // namespace tidemark::cpu
