// What is done to a product's result while it is in the cache: part by part, by the thread that
// made the part.
#pragma once

#include <tidemark/kernel.h>

#include <string_view>

namespace tidemark::cpu {

/// The result is seen as a matrix: rows of its last dimension.
class Epilogue {
 public:
  virtual ~Epilogue() = default;
  /// Parts have to be whole rows.
  virtual bool needs_whole_rows() const = 0;
  /// Each element is in exactly one part, and is there when it comes. From any thread.
  virtual void apply(int64_t first_row, int64_t rows, int64_t first_column,
                     int64_t columns) const = 0;
  /// The same of a result that is nowhere whole: the part lies at `part`, its rows `stride`
  /// elements apart, until the call is over. Of products that are run without a place for their
  /// result.
  virtual void apply_to(const void* part, int64_t stride, int64_t first_row, int64_t rows,
                        int64_t first_column, int64_t columns) const;
};

/// All of the result, on all threads.
void apply_to_all(const Epilogue& epilogue, int64_t rows, int64_t columns);

/// A kernel that takes an epilogue.
struct ProductKernel {
  /// `out` null: parts of the result lie in the workspace, which has to be of the other size then,
  /// and only the epilogue sees them. Kernels without such a size need a place.
  using Run = void (*)(const OpCall& call, const Shape& output, void* out, char* workspace,
                       const Epilogue& epilogue);
  Run run = nullptr;
  KernelWorkspace workspace = nullptr;
  KernelWorkspace workspace_for_parts = nullptr;
};

/// Of an op whose result has elements of this dtype; null: it takes none.
const ProductKernel* product_kernel(std::string_view op, DType dtype);

}  // namespace tidemark::cpu
