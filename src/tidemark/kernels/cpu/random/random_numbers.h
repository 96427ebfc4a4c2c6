// Numbers drawn one element at a time, from and into tensors of any dtype.
#pragma once

#include <cmath>
#include <limits>

#include "tidemark/kernels/cpu/random/random_stream.h"

namespace tidemark::cpu {

/// Uniform numbers in (0, 1) for one element: Philox 4x32-10 blocks, one after the other.
class Uniforms {
 public:
  Uniforms(const RandomStream& s, int64_t element)
      : key_(s.key), low_(s.counter_low + static_cast<uint64_t>(element)), high_(s.counter_high) {}

  double next() {
    if (used_ == 4) refill();
    return (words_.word[used_++] + 0.5) * 0x1p-32;
  }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(next()));
    return radius * std::cos(6.28318530717958647692 * next());
  }

 private:
  void refill() {
    high_ += 0x9e3779b97f4a7c15u;  // odd: runs through all values, far from other elements' blocks
    words_ = random_block(key_, low_, high_);
    used_ = 0;
  }

  uint64_t key_, low_, high_;
  RandomBlock words_;
  int used_ = 4;
};

inline double as_double(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::float16:
      return static_cast<float>(t.data<Half>()[i]);
    case DType::bfloat16:
      return static_cast<float>(t.data<BFloat16>()[i]);
    case DType::float32:
      return t.data<float>()[i];
    case DType::float64:
      return t.data<double>()[i];
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

/// NaN becomes 0, what is out of range the nearest bound.
template <class T>
T as_integer(double value) {
  if (std::isnan(value)) return 0;
  if (value >= static_cast<double>(std::numeric_limits<T>::max())) {
    return std::numeric_limits<T>::max();
  }
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) {
    return std::numeric_limits<T>::min();
  }
  return static_cast<T>(value);
}

inline void put(const Tensor& t, int64_t i, double value) {
  switch (t.dtype()) {
    case DType::float16:
      t.mutable_data<Half>()[i] = Half(static_cast<float>(value));
      break;
    case DType::bfloat16:
      t.mutable_data<BFloat16>()[i] = BFloat16(static_cast<float>(value));
      break;
    case DType::float32:
      t.mutable_data<float>()[i] = static_cast<float>(value);
      break;
    case DType::float64:
      t.mutable_data<double>()[i] = value;
      break;
    case DType::int32:
      t.mutable_data<int32_t>()[i] = as_integer<int32_t>(value);
      break;
    default:
      t.mutable_data<int64_t>()[i] = as_integer<int64_t>(value);
  }
}

}  // namespace tidemark::cpu
