// Programs on a GPU: written as source, compiled when first needed, enqueued.
#pragma once

#include "tidemark/kernels/cuda/emit.h"
#include "tidemark/kernels/cuda/stream.h"

namespace tidemark::cuda {

/// The kernel for a way of walking. With the stream's context pushed.
std::shared_ptr<const LoadedCode> code_for(CudaStream& stream, const fusion::Program& program,
                                           const Walk& walk);

/// One program over tensors of the GPU.
void launch_program(CudaStream& stream, const LoadedCode& code, const fusion::Program& program,
                    const Walk& walk, std::span<const Tensor> inputs,
                    std::span<const Tensor> outputs);

}  // namespace tidemark::cuda
