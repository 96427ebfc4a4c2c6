// Convolutions as kernels that take an epilogue.
#pragma once

#include "tidemark/kernels/cpu/epilogue.h"

namespace tidemark::cpu {

extern const ProductKernel kConvolutionProduct;
extern const ProductKernel kConvolutionInputGradProduct;

}  // namespace tidemark::cpu
