// QueuedKernel: one run of a kernel, to be done when its stream comes to it.
#pragma once

#include <tidemark/kernel.h>

#include <memory>
#include <vector>

namespace tidemark {

struct QueuedKernel {
  /// A tensor of the call. Elements on the device are referred to by address alone: the stream's
  /// order, not a reference, keeps them there. What lies on the host is kept.
  struct Operand {
    DType dtype = DType::invalid;
    Shape shape;
    void* data = nullptr;
    Tensor host;  // empty: on the device
  };

  const OpDef* op = nullptr;
  Kernel kernel;
  std::vector<Attr> attrs;
  std::vector<Operand> inputs, outputs;
  void* workspace = nullptr;  // on the device
  /// Where the shapes of outputs that depend on values go; null: they are known. Valid until the
  /// caller has waited.
  std::vector<Shape>* shapes = nullptr;
};

}  // namespace tidemark
