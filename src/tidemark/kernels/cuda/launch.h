// Programs on a GPU: written as source, compiled when first needed, enqueued.
#pragma once

#include "tidemark/kernels/cuda/emit.h"
#include "tidemark/kernels/cuda/stream.h"

namespace tidemark::cuda {

/// All that the kernel's text depends on, as bytes: shorter than the text, and made without it.
std::string key_of(const fusion::FusedProgram& program, const Walk& walk);

/// The kernel for a way of walking. With the stream's context pushed.
std::shared_ptr<const LoadedCode> code_for(CudaStream& stream, const fusion::FusedProgram& program,
                                           const Walk& walk);
/// The same where key_of() was asked before.
std::shared_ptr<const LoadedCode> code_for(CudaStream& stream, const fusion::FusedProgram& program,
                                           const Walk& walk, const std::string& key);

/// One program over tensors of the GPU.
void launch_program(CudaStream& stream, const std::shared_ptr<const LoadedCode>& code,
                    const fusion::FusedProgram& program, const Walk& walk,
                    std::span<const Tensor> inputs, std::span<const Tensor> outputs);

}  // namespace tidemark::cuda
