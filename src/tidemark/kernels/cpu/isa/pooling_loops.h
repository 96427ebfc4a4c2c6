// Loops of the poolings, channels last, one table an instruction-set level.
#pragma once

#include "tidemark/kernels/cpu/isa/convolution_loops.h"

namespace tidemark::cpu {

/// Rows are (image, first, second spatial position) of the output; channels are `out_channels`.
struct PoolingLoops {
  void (*max)(const ConvolutionSizes& s, int64_t row, const void* x, void* y) = nullptr;
  void (*mean)(const ConvolutionSizes& s, int64_t row, const void* x, void* y) = nullptr;
  /// Where the greatest element of each window lies: index of its pixel in the image, for channels
  /// [begin, end), one after the other.
  void (*arg_max)(const ConvolutionSizes& s, int64_t row, const void* x, const void* y,
                  int64_t begin, int64_t end, int64_t* pixels) = nullptr;
  /// Row of the input's gradient.
  void (*mean_gradient)(const ConvolutionSizes& s, int64_t row, const void* dy, void* dx) = nullptr;
  /// to[...] += from[...] of one element.
  void (*add)(const void* from, void* to) = nullptr;
};

struct PoolingTable {
  PoolingLoops loops[kDTypeSlots];
};

const PoolingTable& pooling_loops();

}  // namespace tidemark::cpu
