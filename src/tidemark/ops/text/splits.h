// Where rows begin, and the C++ types of dtypes, for ops on strings.
#pragma once

#include <tidemark/op.h>

#include <complex>

namespace tidemark::text {

/// Throws InvalidArgumentError unless the splits begin with 0, never fall and end with `count`.
inline void check_splits(std::string_view op, const Ints& splits, int64_t count) {
  if (splits.empty()) {
    if (count == 0) return;
    fail<InvalidArgumentError>("[", op, "] no splits are given for ", count, " values");
  }
  if (splits[0] != 0) {
    fail<InvalidArgumentError>("[", op, "] First split value must be 0, got ", splits[0]);
  }
  for (size_t i = 1; i < splits.size(); ++i) {
    if (splits[i] >= splits[i - 1] && splits[i] <= count) continue;
    fail<InvalidArgumentError>("[", op, "] Invalid split value ", splits[i], ", must be in [",
                               splits[i - 1], ", ", count, "]");
  }
  if (splits.back() != count) {
    fail<InvalidArgumentError>("[", op, "] Last split value must be data size. Expected ", count,
                               ", got ", splits.back());
  }
}

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

}  // namespace tidemark::text
