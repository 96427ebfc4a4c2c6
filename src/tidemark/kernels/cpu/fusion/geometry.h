// How a program's inputs lie in the space it runs over.
#pragma once

#include "tidemark/kernels/cpu/fusion/run_args.h"

namespace tidemark::fusion {

/// The space with neighbouring dimensions joined where every input walks them alike; the reduced
/// ones apart from the others.
struct Geometry {
  static constexpr int kMaxDims = 12;
  int rank = 0;
  int inner = 0;  // of these dimensions are reduced
  int64_t size[kMaxDims];
  int64_t rows = 1, cols = 1;  // without reductions: one row

  Geometry(const FusedProgram& program, std::span<const Shape* const> inputs);

  int64_t total() const { return rows * cols; }
  size_t bytes() const { return strides_.size() * sizeof(int64_t); }
  /// Input k along the last `dims` dimensions: one element, neighbouring ones, or neither.
  enum class Walk : uint8_t { scalar, dense, other };
  Walk walk(int input, int dims) const;
  /// Where the element with this index among the first `dims` dimensions lies.
  int64_t offset(int input, int64_t index, int dims) const;
  /// Lays out elements [start, start + n) of the space; `size` bytes each.
  void expand(int input, const char* from, int64_t start, int64_t n, size_t size, char* out) const;

 private:
  /// By dimension, in elements; 0: broadcast.
  const int64_t* strides(int input) const {
    return strides_.data() + static_cast<size_t>(input) * static_cast<size_t>(rank);
  }
  std::vector<int64_t> strides_;
};

}  // namespace tidemark::fusion
