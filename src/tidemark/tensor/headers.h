// Headers of tensors: memory that goes from one to the next without asking the system.
#pragma once

#include <tidemark/tensor.h>

namespace tidemark::detail {

/// A header that nobody else has; throws ResourceExhaustedError where there is no memory for one.
TIDEMARK_API TensorImpl* new_header();

/// Also for headers made with `new`.
void free_header(TensorImpl* impl) noexcept;

}  // namespace tidemark::detail
