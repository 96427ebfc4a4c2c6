// Sizes as values: constants where they are known, computed when a traced function runs otherwise.
#pragma once

#include <tidemark/tensor.h>

namespace tidemark::nn {

/// All sizes of x, as int32.
Tensor sizes_of(const Tensor& x);
/// The size of dimension `axis`, a scalar int32.
Tensor size_at(const Tensor& x, int axis);
/// Of the first: the batch.
inline Tensor first_size(const Tensor& x) { return size_at(x, 0); }

}  // namespace tidemark::nn
