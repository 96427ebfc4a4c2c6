// libtidemark_cuda.so and what it opens.
#pragma once

#include <string>

#include "tidemark/kernels/cuda/interface.h"

namespace tidemark::cuda {

/// Null where there is no driver, no GPU or no libtidemark_cuda.so; `why` then says so.
const Driver* installed_driver(std::string& why);
/// Throws FailedPreconditionError where NVRTC cannot be had.
const SourceCompiler& installed_compiler();
/// Null where cuBLASLt cannot be had.
const ProductLibrary* installed_products();
/// Null where cuDNN cannot be had.
const ConvolutionLibrary* installed_convolutions();
/// Null where cuFFT cannot be had.
const TransformLibrary* installed_transforms();

}  // namespace tidemark::cuda
