// Words that gradient definitions use.
#pragma once

#include <tidemark/call.h>

namespace tidemark {

/// A scalar of the dtype: gradients keep the dtype of what they flow through.
Tensor scalar(double value, DType dtype);
inline Tensor scalar_like(double value, const Tensor& t) { return scalar(value, t.dtype()); }

/// The complex conjugate; real tensors as they are.
Tensor conjugate(const Tensor& t);

/// x where the condition holds, else 0.
Tensor zero_unless(const Tensor& condition, const Tensor& x);

}  // namespace tidemark
