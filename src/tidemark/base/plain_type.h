// From a dtype known at run time to the C++ type of its elements.
#pragma once

#include <tidemark/dtype.h>
#include <tidemark/error.h>
#include <tidemark/half.h>

#include <complex>

namespace tidemark {

/// Calls fn with a value of the C++ type of a plain dtype.
template <class Fn>
void with_plain_type(DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::bool_:
      return fn(bool());
    case DType::int8:
      return fn(int8_t());
    case DType::uint8:
      return fn(uint8_t());
    case DType::int16:
      return fn(int16_t());
    case DType::uint16:
      return fn(uint16_t());
    case DType::int32:
      return fn(int32_t());
    case DType::uint32:
      return fn(uint32_t());
    case DType::int64:
      return fn(int64_t());
    case DType::uint64:
      return fn(uint64_t());
    case DType::float16:
      return fn(Half());
    case DType::bfloat16:
      return fn(BFloat16());
    case DType::float32:
      return fn(float());
    case DType::float64:
      return fn(double());
    case DType::complex64:
      return fn(std::complex<float>());
    case DType::complex128:
      return fn(std::complex<double>());
    default:
      fail<InternalError>("no plain dtype: ", name_of(dtype));
  }
}

}  // namespace tidemark
