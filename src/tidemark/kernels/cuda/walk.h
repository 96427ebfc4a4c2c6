// Walk: where the elements of a program's inputs lie, as a kernel finds them.
//
// Kernels are written for a way of walking, not for sizes: which inputs have an element for each of
// the space, which are one number, and how many loops the others take. Sizes and strides are
// arguments, so that one kernel serves all shapes that are walked alike.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tidemark/kernels/fusion/ir.h"

namespace tidemark::cuda {

enum class Access : uint8_t { dense, single, strided };

struct Walk {
  /// Over the inputs' shapes, broadcast together.
  Walk(const fusion::FusedProgram& program, std::span<const Shape> inputs);

  /// Adds what of it the text of a kernel may depend on, as bytes: no sizes, no strides.
  void append_way(std::string& bytes) const;

  Shape space;
  int64_t count = 1;  // elements of the space
  int64_t rows = 1;   // of `row` elements each; where there are none, each element is one
  int64_t row = 1;
  bool is_small = true;  // places in it are 32-bit numbers
  std::vector<Access> access;
  /// Neighbouring dimensions that are walked as one are one.
  std::vector<int64_t> sizes;
  std::vector<std::vector<int64_t>> strides;  // by input: those of strided ones, in elements
};

}  // namespace tidemark::cuda
