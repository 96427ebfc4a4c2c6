// The vectorised loops under the reductions, one table an instruction-set level.
//
// A loop reads elements of a storage type, accumulates in short blocks of the lane type (float for
// float16, bfloat16 and float32) and adds each block into a wide accumulator (double for floats).
// Results depend on lengths and strides alone.
#pragma once

#include <tidemark/dtype.h>

namespace tidemark::cpu {

enum class ReduceLoop : uint8_t {
  sum,
  wide_sum,  // integers into 64 bits
  prod,
  min,
  max,
  sum_squares,
  sum_exp,                // of x - param
  sum_square_deviations,  // of x - param
};
inline constexpr int kReduceLoops = 8;

/// Columns one call of ReduceColumns may have.
inline constexpr int64_t kMaxColumns = 2048;

/// acc[r] takes in the n elements from x + r * stride, for each of `rows` rows. Strides count
/// elements; params has one lane value a row, or is null.
using ReduceRows = void (*)(const void* x, int64_t rows, int64_t stride, int64_t n,
                            const void* params, void* acc);
/// acc[j] takes in x[r * stride + j] of every row, for each of `width` columns.
using ReduceColumns = void (*)(const void* x, int64_t rows, int64_t stride, int64_t width,
                               const void* params, void* acc);

struct ReduceLoopPair {
  ReduceRows rows = nullptr;
  ReduceColumns columns = nullptr;
};

struct ReduceLoops {
  ReduceLoopPair pairs[kReduceLoops][kDTypeSlots];
};

/// The table of the best level this CPU has.
const ReduceLoops& reduce_loops();

/// Lane and wide types by storage type.
template <class T>
struct ReduceTypes {
  using Lane = T;
  using Wide = T;
};
template <>
struct ReduceTypes<float> {
  using Lane = float;
  using Wide = double;
};
template <>
struct ReduceTypes<Half> : ReduceTypes<float> {};
template <>
struct ReduceTypes<BFloat16> : ReduceTypes<float> {};

}  // namespace tidemark::cpu
