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
  /// For the windows of a row of y and channels [begin, end): adds each window's element of `third`
  /// to `out` at the window's greatest element; and the other way: takes the element of `third`
  /// that lies there.
  void (*max_gradient)(const ConvolutionSizes& s, int64_t row, const void* x, const void* y,
                       const void* third, int64_t begin, int64_t end, void* out) = nullptr;
  /// As max_gradient where no two windows share a pixel: writes every pixel of its windows, after
  /// it has read it, so that `out` may lie where x does.
  void (*max_gradient_apart)(const ConvolutionSizes& s, int64_t row, const void* x, const void* y,
                             const void* third, int64_t begin, int64_t end, void* out) = nullptr;
  void (*max_take)(const ConvolutionSizes& s, int64_t row, const void* x, const void* y,
                   const void* third, int64_t begin, int64_t end, void* out) = nullptr;
};

struct PoolingTable {
  PoolingLoops loops[kDTypeSlots];
};

const PoolingTable& pooling_loops();

}  // namespace tidemark::cpu
