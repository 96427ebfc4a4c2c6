// Our own convolutions, channels last: direct sums that need no workspace. They serve the dtypes
// and shapes the library does not serve. One table an instruction-set level.
#pragma once

#include <tidemark/dtype.h>

namespace tidemark::cpu {

/// As ops/windows.h has it, with batch and channels.
struct ConvolutionSizes {
  int64_t batch, groups, in_channels, out_channels;
  int64_t in[3], out[3], kernel[3], stride[3], dilation[3], before[3];
};

struct ConvolutionLoops {
  /// Row (image, first, second spatial position) `row` of the output.
  void (*forward)(const ConvolutionSizes& s, int64_t row, const void* x, const void* filter,
                  void* y) = nullptr;
  /// Row `row` of the input's gradient.
  void (*input_gradient)(const ConvolutionSizes& s, int64_t row, const void* dy, const void* filter,
                         void* dx) = nullptr;
  /// Row (window position, input channel of a group) `row` of the filter's gradient.
  void (*filter_gradient)(const ConvolutionSizes& s, int64_t row, const void* x, const void* dy,
                          void* dfilter) = nullptr;
};

struct ConvolutionTable {
  ConvolutionLoops loops[kDTypeSlots];
};

const ConvolutionTable& convolution_loops();

}  // namespace tidemark::cpu
