// For tests of kernels: tensors of any dtype from doubles and back.
#pragma once

#include <tidemark/call.h>

#include <complex>
#include <vector>

#include "tidemark/base/plain_type.h"
#include "tidemark/kernels/cpu/elementwise/loops_of_level.h"

namespace tidemark::testing {

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
  with_plain_type(d, [&](auto zero) {
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
  with_plain_type(t.dtype(), [&](auto zero) {
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
