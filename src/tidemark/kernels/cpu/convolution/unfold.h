// A convolution as one product: the pixels under each window side by side make a matrix, which is
// multiplied by the filter as it lies. For images that are small beside the filter: a library
// would spend its time on moving the filter into a layout of its own.
#pragma once

#include <cstddef>

#include "tidemark/kernels/cpu/isa/convolution_loops.h"

namespace tidemark::cpu {

/// Rows of the matrix: one for each pixel of the output.
int64_t unfolded_rows(const ConvolutionSizes& s);
/// Its columns: the window's pixels with their channels.
int64_t unfolded_columns(const ConvolutionSizes& s);

/// True iff moving the filter costs more than unfolding the images. Of one group.
bool pays_to_unfold(const ConvolutionSizes& s);

/// Images to matrix; what lies outside of an image is zero.
void unfold(const ConvolutionSizes& s, size_t element_size, const void* images, void* matrix);

/// The gradient of the images from that of the matrix: sums, in the order of the window.
void fold(const ConvolutionSizes& s, const float* matrix, float* images);

}  // namespace tidemark::cpu
