// For tests of kernels: tensors of any dtype from doubles and back.
#pragma once

#include <tidemark/call.h>

#include <complex>
#include <vector>

#include "tidemark/kernels/cpu/loops_of_level.h"

namespace tidemark::testing {

/// Calls fn with a value of the C++ type of a plain dtype.
template <class Fn>
void with_type(DType d, Fn&& fn) {
  switch (d) {
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
      fail<InternalError>("no plain dtype: ", name_of(d));
  }
}

inline double as_double(Half v) { return static_cast<float>(v); }
inline double as_double(BFloat16 v) { return static_cast<float>(v); }
template <class R>
double as_double(std::complex<R> v) {
  return v.real();
}
template <class T>
double as_double(T v) {
  return static_cast<double>(v);
}

template <class T>
T from_double(double v) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(v));
  } else {
    return static_cast<T>(v);
  }
}

inline Tensor tensor(DType d, const std::vector<double>& values, const Shape& shape) {
  Tensor t = Tensor::uninitialized(d, shape);
  with_type(d, [&](auto zero) {
    using T = decltype(zero);
    T* data = static_cast<T*>(t.mutable_raw_data());
    for (size_t i = 0; i < values.size(); ++i) data[i] = from_double<T>(values[i]);
  });
  return t;
}
inline Tensor tensor(DType d, const std::vector<double>& values) {
  return tensor(d, values, {static_cast<int64_t>(values.size())});
}

/// Real parts of the elements.
inline std::vector<double> doubles(const Tensor& t) {
  std::vector<double> out;
  with_type(t.dtype(), [&](auto zero) {
    for (auto v : t.values<decltype(zero)>()) out.push_back(as_double(v));
  });
  return out;
}

inline std::vector<DType> all_of(DTypeSet set) {
  std::vector<DType> out;
  for (int i = 0; i < kDTypeSlots; ++i) {
    if (set.contains(static_cast<DType>(i))) out.push_back(static_cast<DType>(i));
  }
  return out;
}

/// The levels this CPU runs; each one is in use while fn is called.
template <class Fn>
void for_each_level(Fn&& fn) {
  const cpu::Level best = cpu::best_level();
  for (int level = 0; level <= static_cast<int>(best); ++level) {
    cpu::use_loops_of(static_cast<cpu::Level>(level));
    fn();
  }
  cpu::use_loops_of(best);
}

}  // namespace tidemark::testing
