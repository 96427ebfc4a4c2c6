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
};

/// All of the result, on all threads.
void apply_to_all(const Epilogue& epilogue, int64_t rows, int64_t columns);

/// A kernel that takes an epilogue.
struct ProductKernel {
  using Run = void (*)(const OpCall& call, const Shape& output, void* out, char* workspace,
                       const Epilogue& epilogue);
  Run run = nullptr;
  KernelWorkspace workspace = nullptr;
};

/// Of an op whose result has elements of this dtype; null: it takes none.
const ProductKernel* product_kernel(std::string_view op, DType dtype);

}  // namespace tidemark::cpu
