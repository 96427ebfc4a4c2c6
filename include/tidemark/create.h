// Tensors from nothing.
//
//   auto a = td::zeros({2, 3});
//   auto b = td::full({2, 3}, 7.f);
//   auto c = td::arange(10);                  // 0, 1, …, 9 as int32
#pragma once

#include <tidemark/tensor.h>

namespace tidemark {

TIDEMARK_API Tensor zeros(const Shape& shape, DType dtype = DType::float32);
TIDEMARK_API Tensor ones(const Shape& shape, DType dtype = DType::float32);
/// Every element is the scalar `value`.
TIDEMARK_API Tensor full(const Shape& shape, const Tensor& value);
/// start, start + step, … up to but without `stop`.
TIDEMARK_API Tensor arange(int32_t start, int32_t stop, int32_t step = 1);
TIDEMARK_API Tensor arange(int32_t stop);

}  // namespace tidemark
