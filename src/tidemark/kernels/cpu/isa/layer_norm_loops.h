// Loops of layer_norm and rms_norm over single rows, one table an instruction-set level.
#pragma once

#include <tidemark/dtype.h>

namespace tidemark::cpu {

/// Scale, offset, x, y, dy and dx hold elements; statistics and sums hold lanes (float, or double
/// for float64). Without centring the mean stays 0 and there is no offset.
struct LayerNormLoops {
  void (*forward)(const void* x, const void* scale, const void* offset, int64_t n, double epsilon,
                  bool centred, void* y, void* mean, void* rstd) = nullptr;
  /// Adds the row's share to the sums dscale and doffset (null: not wanted).
  void (*backward)(const void* x, const void* dy, const void* scale, int64_t n, bool centred,
                   const void* mean, const void* rstd, void* dx, void* dscale,
                   void* doffset) = nullptr;
  /// Elements [begin, end): adds up `count` rows of sums, n lanes each.
  void (*add_up)(const void* sums, int64_t count, int64_t stride, int64_t begin, int64_t end,
                 void* out) = nullptr;
};

struct LayerNormTable {
  LayerNormLoops loops[kDTypeSlots];
};

const LayerNormTable& layer_norm_loops();

}  // namespace tidemark::cpu
