// Tensors to try kernels of GPUs with, and how near they must come to the CPU's.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "tidemark/base/plain_type.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::cuda {

inline Tensor random_tensor(DType dtype, const Shape& shape, std::mt19937& random) {
  const Tensor t = new_tensor(dtype, shape);
  constexpr double kSpecial[] = {0.0, -0.0, 1.0, -1.0, 0.5, 1e30, -1e30, INFINITY, -INFINITY, NAN};
  with_plain_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* data = static_cast<T*>(t.mutable_raw_data());
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      if constexpr (std::is_same_v<T, bool>) {
        data[i] = random() % 2;
      } else if constexpr (std::is_integral_v<T>) {
        data[i] = static_cast<T>(random() * 0x9e3779b97f4a7c15u >> 17);
      } else if constexpr (is_complex(dtype_of<T>())) {
        data[i] = T(static_cast<float>(random() % 1000), static_cast<float>(random() % 1000));
      } else {
        const bool is_special = shape.rank() == 1 && random() % 8 == 0;
        const double drawn = std::uniform_real_distribution<>(-3, 3)(random);
        data[i] = static_cast<T>(static_cast<float>(is_special ? kSpecial[random() % 10] : drawn));
      }
    }
  });
  return t;
}

/// How far a device's function may be from the CPU's, relative to the result: docs/devices.md.
inline double tolerance(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 1e-13;
    case DType::float32:
      return 2e-6;
    case DType::float16:
      return 2e-3;
    case DType::bfloat16:
      return 1.6e-2;
    default:
      return 0;
  }
}

inline void expect_near(const Tensor& wanted, const Tensor& given, const std::string& what,
                        double terms = 0) {
  ASSERT_EQ(wanted.shape(), given.shape()) << what;
  with_plain_type(wanted.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (is_complex(dtype_of<T>())) {
      using Part = typename T::value_type;
      const double allowed = tolerance(dtype_of<Part>());
      const T *a = static_cast<const T*>(wanted.raw_data()),
              *b = static_cast<const T*>(given.raw_data());
      for (int64_t i = 0; i < wanted.num_elements(); ++i) {
        const double size = std::max(terms, static_cast<double>(std::abs(a[i])));
        const auto is_near = [&](double x, double y) {
          return x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= allowed * size;
        };
        EXPECT_TRUE(is_near(a[i].real(), b[i].real()) && is_near(a[i].imag(), b[i].imag()))
            << what << " element " << i << ": " << a[i] << " and " << b[i];
      }
    } else {
      const T *a = static_cast<const T*>(wanted.raw_data()),
              *b = static_cast<const T*>(given.raw_data());
      for (int64_t i = 0; i < wanted.num_elements(); ++i) {
        if (std::memcmp(a + i, b + i, sizeof(T)) == 0) continue;
        using Real =
            std::conditional_t<std::is_floating_point_v<T> || std::is_integral_v<T>, T, float>;
        const auto x = static_cast<double>(static_cast<Real>(a[i]));
        const auto y = static_cast<double>(static_cast<Real>(b[i]));
        if ((std::isnan(x) && std::isnan(y)) || x == y) continue;
        // Below the smallest normal number of a dtype what is left are steps, not digits.
        const double floor = std::max(terms, wanted.dtype() == DType::float16 ? 6e-5 : 1e-37);
        EXPECT_LE(std::abs(x - y), tolerance(wanted.dtype()) * std::max(std::abs(x), floor))
            << what << " element " << i << ": " << x << " and " << y;
      }
    }
  });
}

}  // namespace tidemark::cuda
