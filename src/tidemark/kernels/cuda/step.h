// A step of a graph that a GPU's compiler made: it enqueues its work on a stream.
#pragma once

#include <tidemark/tensor.h>

#include <span>

namespace tidemark::cuda {

class CudaStream;

class CudaStep {
 public:
  virtual ~CudaStep() = default;
  /// Tensors and the workspace lie on the stream's GPU.
  virtual void enqueue(CudaStream& stream, std::span<const Tensor> inputs,
                       std::span<const Tensor> outputs, void* workspace) const = 0;
};

}  // namespace tidemark::cuda
