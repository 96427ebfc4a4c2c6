// A library of products made of loops, for GPUs that are the host's.
#pragma once

#include <tidemark/half.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "tidemark/kernels/cuda/testing.h"

namespace tidemark::cuda {

/// Of 23 bits of fraction, 10 stay: TensorFloat-32.
inline float rounded_operand(float x) {
  if (!std::isfinite(x)) return x;
  constexpr uint32_t kDropped = 13, kHalf = 1u << (kDropped - 1);
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return std::bit_cast<float>((bits + kHalf) & ~((1u << kDropped) - 1));
}

/// Adds up in double precision.
template <class T, class R>
void multiply_on_host(const Product& p, const ProductRun& run) {
  const auto* a = reinterpret_cast<const T*>(run.a);
  const auto* b = reinterpret_cast<const T*>(run.b);
  auto* c = reinterpret_cast<R*>(run.c);
  const auto number = [](auto x) {
    using Wide = std::conditional_t<std::is_same_v<decltype(x), double>, double, float>;
    return static_cast<double>(static_cast<Wide>(x));
  };
  for (int64_t item = 0; item < p.batch; ++item, a += p.a_item, b += p.b_item) {
    for (int64_t i = 0; i < p.m; ++i) {
      for (int64_t j = 0; j < p.n; ++j, ++c) {
        double sum = p.adds ? number(*c) : 0;
        for (int64_t l = 0; l < p.k; ++l) {
          const double x = number(a[p.transpose_a ? l * p.m + i : i * p.k + l]);
          const double y = number(b[p.transpose_b ? j * p.k + l : l * p.n + j]);
          sum += p.rounds ? double{rounded_operand(static_cast<float>(x))} *
                                rounded_operand(static_cast<float>(y))
                          : x * y;
        }
        *c = R(static_cast<std::conditional_t<std::is_same_v<R, double>, double, float>>(sum));
      }
    }
  }
}

using HostProduct = void (*)(const Product&, const ProductRun&);
inline HostProduct host_product_for(const Product& p) {
  const bool is_wide = p.result == Product::float32;
  switch (p.element) {
    case Product::float64:
      return multiply_on_host<double, double>;
    case Product::float16:
      return is_wide ? multiply_on_host<Half, float> : multiply_on_host<Half, Half>;
    case Product::bfloat16:
      return is_wide ? multiply_on_host<BFloat16, float> : multiply_on_host<BFloat16, BFloat16>;
    default:
      return multiply_on_host<float, float>;
  }
}

inline const ProductLibrary* host_products() {
  static const ProductLibrary kTable = {
      .create = [](Handle* library) -> int {
        *library = 1;
        return 0;
      },
      .multiply = [](Handle, const Product* product, const ProductRun* run) -> int {
        FakeDriver::now().enqueue(run->stream,
                                  [p = *product, r = *run] { host_product_for(p)(p, r); });
        return 0;
      },
      .explain = [](int) { return "refused"; },
  };
  return &kTable;
}

}  // namespace tidemark::cuda
