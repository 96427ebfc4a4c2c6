// Words that gradient definitions use.
#pragma once

#include <tidemark/call.h>

namespace tidemark {

/// A scalar of the dtype: gradients keep the dtype of what they flow through.
Tensor scalar(double value, DType dtype);
inline Tensor scalar_like(double value, const Tensor& t) { return scalar(value, t.dtype()); }

/// The tensor itself when it has the dtype already.
Tensor cast_to(const Tensor& t, DType dtype);

/// The complex conjugate; real tensors as they are.
Tensor conjugate(const Tensor& t);

/// x where the condition holds, else 0; and the other way round.
Tensor zero_unless(const Tensor& condition, const Tensor& x);
Tensor zero_if(const Tensor& condition, const Tensor& x);

}  // namespace tidemark
