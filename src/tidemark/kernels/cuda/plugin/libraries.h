// The parts of the table that libtidemark_cuda.so answers with.
#pragma once

#include "tidemark/kernels/cuda/interface.h"

namespace tidemark::cuda {

const Driver* driver(const char** why);
const SourceCompiler* source_compiler(const char** why);
const ProductLibrary* product_library(const char** why);
const ConvolutionLibrary* convolution_library(const char** why);
const TransformLibrary* transform_library(const char** why);

/// Bytes that this process has of the GPU at a place of the bus; not kDone: nobody tells.
int process_bytes(const char* bus, size_t* bytes);

}  // namespace tidemark::cuda
