// Loops of batch_norm over rows of channels, one table an instruction-set level.
#pragma once

#include <tidemark/dtype.h>

namespace tidemark::cpu {

/// x, y, dy and dx hold elements: n of them, in rows of `width` whose last may end early. What is
/// given for each place in a row, and sums, hold lanes (float, or double for float64).
struct BatchNormLoops {
  /// sum += x - shift, square += (x - shift)^2
  void (*sums)(const void* x, int64_t n, int64_t width, const void* shift, void* sum,
               void* square) = nullptr;
  /// y = x * factor + shift
  void (*affine)(const void* x, int64_t n, int64_t width, const void* factor, const void* shift,
                 void* y) = nullptr;
  /// sum += dy, product += dy * (x - mean)
  void (*gradient_sums)(const void* x, const void* dy, int64_t n, int64_t width, const void* mean,
                        void* sum, void* product) = nullptr;
  /// dx = dy * a + x * b + c
  void (*gradient)(const void* x, const void* dy, int64_t n, int64_t width, const void* a,
                   const void* b, const void* c, void* dx) = nullptr;
};

struct BatchNormTable {
  BatchNormLoops loops[kDTypeSlots];
};

const BatchNormTable& batch_norm_loops();

}  // namespace tidemark::cpu
