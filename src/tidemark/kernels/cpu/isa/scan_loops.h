// Loops along one axis that keep the axis or give an index in it: cumulative ops, argmin, argmax.
#pragma once

#include <tidemark/dtype.h>

namespace tidemark::cpu {

/// Columns a call works on at most.
inline constexpr int64_t kScanColumns = 128;

enum class ScanLoop : uint8_t { sum, prod, logsumexp };
inline constexpr int kScanLoops = 3;

/// What a walk in several pieces knows of the rows before: a value for each column.
struct ScanState {
  static constexpr int64_t kMostBytes = 16;  // of a value
  alignas(64) char values[kScanColumns * kMostBytes];
  bool is_begun = false;
};

/// Walks n rows of `width` neighbouring columns, `stride` elements apart (negative: backwards).
/// `state` is null where these are all the rows.
using ScanFn = void (*)(const void* x, int64_t n, int64_t stride, int64_t width, bool exclusive,
                        void* out, ScanState* state);
/// Index of the first greatest (least) of n rows for each column; NaN never wins.
using ArgFn = void (*)(const void* x, int64_t n, int64_t stride, int64_t width, int64_t* index);

struct ScanTable {
  ScanFn scan[kScanLoops][kDTypeSlots];
  ArgFn arg_max[kDTypeSlots], arg_min[kDTypeSlots];
};

const ScanTable& scan_loops();

}  // namespace tidemark::cpu
