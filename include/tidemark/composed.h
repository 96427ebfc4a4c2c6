// Functions of TensorFlow that are more than an op, under its names.
//
//   td::Tensor x = td::constant({{1.f, 2.f}, {3.f, 4.f}});        // float32, (2, 2)
//   td::Tensor y = td::where(td::greater(x, 2.f), x, td::zeros_like(x));
//   td::Tensor z = td::one_hot(td::constant({0, 1}), 2) * td::norm(y) + td::eye(2);
//
// Those of tf.nn are in <tidemark/nn_functions.h>, those of tf.image in <tidemark/image.h>.
#pragma once

#include <tidemark/attr.h>
#include <tidemark/tensor.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace tidemark {

namespace detail {

TIDEMARK_API Tensor constant_of(DType dtype, const void* values, int64_t count, const Shape& shape,
                                const void* caller);
/// A constant whose rows are lists; throws InvalidArgumentError where they differ in length.
struct RowOfConstant {
  const void* values;
  size_t count;
};
TIDEMARK_API Tensor constant_of_rows(DType dtype, std::span<const RowOfConstant> rows,
                                     const void* caller);

}  // namespace detail

/// A scalar, a vector or a matrix, of the dtype of its elements. Not inlined, so that the return
/// address is a place in the caller's code.
template <class T>
[[gnu::noinline]] Tensor constant(T value) {
  return detail::constant_of(dtype_of<T>(), &value, 1, {}, __builtin_return_address(0));
}
template <class T>
[[gnu::noinline]] Tensor constant(std::initializer_list<T> values) {
  const auto count = static_cast<int64_t>(values.size());
  return detail::constant_of(dtype_of<T>(), values.begin(), count, {count},
                             __builtin_return_address(0));
}
template <class T>
[[gnu::noinline]] Tensor constant(std::initializer_list<std::initializer_list<T>> values) {
  std::vector<detail::RowOfConstant> rows;
  for (const std::initializer_list<T>& row : values) rows.push_back({row.begin(), row.size()});
  return detail::constant_of_rows(dtype_of<T>(), rows, __builtin_return_address(0));
}
/// The elements in another shape of as many.
template <class T>
[[gnu::noinline]] Tensor constant(std::initializer_list<T> values, const Shape& shape) {
  return detail::constant_of(dtype_of<T>(), values.begin(), static_cast<int64_t>(values.size()),
                             shape, __builtin_return_address(0));
}

/// x where the condition holds, else y.
TIDEMARK_API Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y);
/// 1 at the index along a new last axis of `depth`, else 0.
TIDEMARK_API Tensor one_hot(const Tensor& indices, int64_t depth, DType dtype = DType::float32);
/// 1 on the diagonal, else 0; `columns`: as many as rows unless told.
TIDEMARK_API Tensor eye(int64_t rows, int64_t columns = -1, DType dtype = DType::float32);

/// The bytes of a file, a string.
TIDEMARK_API Tensor read_file(const char* path);
TIDEMARK_API Tensor read_file(const std::string& path);

struct NormOptions {
  Ints axis = {};  // none: of all elements
  bool keepdims = false;
};
/// The root of the sum of squares.
TIDEMARK_API Tensor norm(const Tensor& tensor, const NormOptions& options = {});
/// The root of the sum of the squares of all.
TIDEMARK_API Tensor global_norm(const std::vector<Tensor>& tensors);
/// As long as it is, or as `clip_norm` where that is less.
TIDEMARK_API Tensor clip_by_norm(const Tensor& t, double clip_norm);
/// The same of all together; and how long they were.
TIDEMARK_API std::pair<std::vector<Tensor>, Tensor> clip_by_global_norm(
    const std::vector<Tensor>& tensors, double clip_norm);

namespace io {
using tidemark::read_file;
}

}  // namespace tidemark
