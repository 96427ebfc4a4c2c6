// The parts of the table that libtidemark_cuda.so answers with.
#pragma once

#include "tidemark/kernels/cuda/interface.h"

namespace tidemark::cuda {

const Driver* driver(const char** why);
const SourceCompiler* source_compiler(const char** why);
const ProductLibrary* product_library(const char** why);

}  // namespace tidemark::cuda
