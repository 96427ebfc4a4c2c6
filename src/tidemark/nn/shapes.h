// Sizes as values: constants where they are known, computed when a traced function runs otherwise.
#pragma once

#include <tidemark/attr.h>
#include <tidemark/tensor.h>

#include <string_view>

namespace tidemark::nn {

/// A vector of int32.
Tensor vector_of(const Ints& values);
/// All sizes of x, as int32.
Tensor sizes_of(const Tensor& x);
/// The first `count` sizes of x, then `rest`.
Tensor sizes_then(const Tensor& x, int count, const Ints& rest);
/// The size of dimension `axis`, a scalar int32.
Tensor size_at(const Tensor& x, int axis);
/// Of the first: the batch.
inline Tensor first_size(const Tensor& x) { return size_at(x, 0); }

/// The size of dimension `axis`, which may count from the end. Throws InvalidArgumentError where x
/// has no such dimension, or its size is not known while a function is traced.
int64_t known_size(std::string_view what, const Tensor& x, int axis);
/// Throws InvalidArgumentError where the rank is not known, or lower.
void check_rank(std::string_view what, const Tensor& x, int least);

/// `size` elements (-1: all others) along one axis, which may count from the end, from `begin` on.
Tensor part(const Tensor& x, int axis, int64_t begin, int64_t size = -1);
/// The slice at one place of an axis, without that axis.
Tensor at(const Tensor& x, int axis, int64_t place);
/// Zeros before and after along one axis.
Tensor padded(const Tensor& x, int axis, int64_t before, int64_t after);
/// 0, 1, … below `count`.
Tensor steps(int64_t count, DType dtype);

}  // namespace tidemark::nn
