// What the kernels of connectionist temporal classification share.
#pragma once

#include <tidemark/kernel.h>

#include <cmath>
#include <limits>

#include "tidemark/base/interrupt.h"
#include "tidemark/kernels/blank_label.h"

namespace tidemark::cpu::ctc {

inline constexpr double kNever = -std::numeric_limits<double>::infinity();  // log of 0

/// log(e^a + e^b)
inline double log_sum(double a, double b) {
  const double larger = a > b ? a : b;
  if (larger == kNever) return kNever;
  return larger + std::log1p(std::exp((a > b ? b : a) - larger));
}

/// log of the sum of e^x over n scores.
template <class T>
double log_normaliser(const T* x, int64_t n) {
  double largest = kNever;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, static_cast<double>(x[i]));
  if (!std::isfinite(largest)) return largest;
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(x[i]) - largest);
  return largest + std::log(sum);
}

inline int64_t int_at(const Tensor& t, int64_t i) {
  return t.dtype() == DType::int32 ? t.data<int32_t>()[i] : t.data<int64_t>()[i];
}

/// Element i of a vector of lengths, which must be in [0, most].
inline int64_t length_at(const KernelContext& k, int input, int64_t i, int64_t most) {
  const int64_t length = int_at(k.input(input), i);
  if (length < 0 || length > most) {
    k.fail("'", k.call().op.input_param(input).name, "' must be from 0 to ", most, "; element ", i,
           " is ", length);
  }
  return length;
}

}  // namespace tidemark::cpu::ctc
