// Poolings and their gradients, as kernels of GPUs.
//
// A thread makes one element of the result. Gradients are gathered: an element looks at the windows
// that it is part of, in their order, so that sums are the CPU's. Where windows share no element
// the gradient of max_pool may be written over the images, and a thread makes all of a window.
#pragma once

#include <tidemark/kernel.h>

#include <string>
#include <vector>

#include "tidemark/ops/windows.h"

namespace tidemark::cuda {

/// Null: it is none, or none over this dtype.
const Kernel* find_pooling(const OpDef& op, DType key);

enum class Pooling {
  max,
  max_with_place,
  mean,
  max_gradient,
  max_gradient_apart,
  max_take,
  mean_gradient
};

/// The function, to stand behind kElementsSource. `is_small`: no tensor has 2^31 elements.
std::string emit_pooling(Pooling what, DType dtype, bool is_small, const std::string& name);

/// Up to three inputs and two outputs; `count`: threads that share the work. `image`: what is added
/// to places for each image, in elements.
std::vector<uint64_t> pooling_arguments(const Windows& windows, int64_t channels, int64_t count,
                                        int64_t image, std::vector<const void*> inputs,
                                        std::vector<void*> outputs);

}  // namespace tidemark::cuda
