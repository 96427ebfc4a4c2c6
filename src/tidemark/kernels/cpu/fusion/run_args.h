// What one run of a program over consecutive elements, or over one row, is given.
#pragma once

#include "tidemark/kernels/cpu/fusion/schedule.h"

namespace tidemark::fusion {

/// Machine code reads it too: plain pointers in fixed places. An input stands before the sources of
/// random numbers, which are laid out in memory like inputs.
struct RunArgs {
  const void* const* in = nullptr;
  void* const* out = nullptr;
  /// Rows kept between passes, with room for n elements each, rounded up to kVectorRun; behind
  /// them the lanes of column reductions, with room for a vector more than n.
  void* const* kept = nullptr;
  int64_t n = 0;
};

/// Where the run of an instruction `load` or `random` finds its elements.
struct Sources {
  explicit Sources(const FusedProgram& program);
  std::vector<uint16_t> of;  // by instruction
  int count = 0;
  std::vector<DType> dtypes;
};

/// Bit s: source s has one element for the whole run.
using ScalarMask = uint64_t;
inline constexpr int kMaxSources = 48;

}  // namespace tidemark::fusion
