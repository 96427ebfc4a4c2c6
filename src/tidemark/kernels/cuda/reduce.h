// Kernels of reductions over axes.
#pragma once

#include <tidemark/kernel.h>

#include <string>
#include <vector>

namespace tidemark::cuda {

/// Null: there is none.
const Kernel* find_reduction(const OpDef& op, DType key);

/// How the elements of a reduction lie, and how it is cut.
struct ReduceWalk {
  /// `reduced`: a flag a dimension.
  ReduceWalk(const Shape& shape, const std::vector<bool>& reduced);

  struct Dims {  // neighbours that are walked as one are one
    std::vector<int64_t> sizes, strides;
    int64_t count = 1;
    void push(int64_t size, int64_t stride);
  } kept, reduced;
  /// A thread makes a result by itself: neighbours read neighbours. Else a block does.
  bool by_thread = false;
  /// Of the elements of a result, each reduced by itself first: by the shape alone, so that results
  /// do not depend on the GPU.
  int64_t parts = 1;
};

/// The function that reduces each part; with one part, to the result itself.
std::string emit_reduction(const std::string& reduction, DType dtype, const ReduceWalk& walk,
                           const std::string& name);
/// The function that joins parts.
std::string emit_join(const std::string& reduction, DType dtype, const std::string& name);
std::vector<uint64_t> reduction_arguments(const ReduceWalk& walk, const void* in, void* out);

/// As device/elements.h calls it: "tm::Sum". Empty: it is none of these.
std::string reduction_class(std::string_view op, DType dtype);

}  // namespace tidemark::cuda
