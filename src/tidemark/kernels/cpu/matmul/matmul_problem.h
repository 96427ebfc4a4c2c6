// A batched matrix product as its kernels see it, and how it is cut into tiles.
#pragma once

#include <tidemark/kernel.h>

#include "tidemark/kernels/cpu/epilogue.h"
#include "tidemark/kernels/cpu/isa/gemm_loops.h"

namespace tidemark::cpu {

inline int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline const char* at(const void* data, int64_t elements, DType dtype) {
  return static_cast<const char*>(data) + elements * static_cast<int64_t>(size_of(dtype));
}
inline char* at(void* data, int64_t elements, DType dtype) {
  return static_cast<char*>(data) + elements * static_cast<int64_t>(size_of(dtype));
}

/// C[i] = A[i] * B[i] for each item i of the batch.
struct MatmulProblem {
  DType dtype;
  int64_t batch, m, n, k;
  MatrixView a, b;         // of the first item
  int64_t a_item, b_item;  // elements of one matrix

  /// Where the items lie when batches broadcast: two shapes and the result's, aligned at the end.
  const Shape *a_shape, *b_shape;
  bool broadcasts;

  /// Elements from the first matrix of a (b) to that of item i.
  int64_t a_offset(int64_t item) const { return offset(*a_shape, a_item, item); }
  int64_t b_offset(int64_t item) const { return offset(*b_shape, b_item, item); }
  int64_t macs() const { return m * n * k; }

  explicit MatmulProblem(const OpCall& call);
  /// Of two matrices.
  MatmulProblem(DType dtype, const MatrixView& a, const MatrixView& b);

 private:
  int64_t offset(const Shape& shape, int64_t item_elements, int64_t item) const;
  Shape batch_shape_;
};

/// Tiles of C in one item, by shape alone, so that results do not depend on threads.
struct MatmulTiles {
  int64_t rows, columns;  // of a tile; the last ones are smaller
  int64_t down, across;   // how many
  explicit MatmulTiles(const MatmulProblem& p);
  /// Cut further where they have more elements than this, as long as that costs little.
  MatmulTiles(const MatmulProblem& p, int64_t most_elements);
  int64_t count() const { return down * across; }
};

/// Bytes of scratch memory that run_product needs; `in_parts`: where it has no C.
size_t product_workspace(const MatmulProblem& p, bool in_parts = false);
/// C is dense. The epilogue, where there is one, gets its rows, those of all items one after the
/// other. No C: the epilogue gets parts that lie in the workspace.
void run_product(const MatmulProblem& p, void* c, char* workspace,
                 const Epilogue* epilogue = nullptr);

extern const ProductKernel kMatmulProduct;

}  // namespace tidemark::cpu
