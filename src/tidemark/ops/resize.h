// How much an old pixel counts for a new one, by their distance.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace tidemark {

struct ResamplingKernel {
  double (*weight)(double distance) = nullptr;  // null: no such method
  double radius = 0;                            // beyond it the weight is zero
};

namespace resampling {

inline double triangle(double x) { return std::max(0.0, 1 - std::abs(x)); }

/// Keys' cubic with a = -1/2.
inline double keys(double x) {
  x = std::abs(x);
  if (x >= 2) return 0;
  if (x >= 1) return ((-0.5 * x + 2.5) * x - 4) * x + 2;
  return (1.5 * x - 2.5) * x * x + 1;
}

/// Mitchell and Netravali's cubic with B = C = 1/3.
inline double mitchell(double x) {
  x = std::abs(x);
  if (x >= 2) return 0;
  if (x >= 1) return ((-7.0 / 18 * x + 2) * x - 10.0 / 3) * x + 16.0 / 9;
  return (7.0 / 6 * x - 2) * x * x + 8.0 / 9;
}

template <int Radius>
double lanczos(double x) {
  x = std::abs(x);
  if (x > Radius) return 0;
  if (x <= 1e-3) return 1;  // where sin(x) / x loses its digits
  const double angle = std::numbers::pi * x;
  return Radius * std::sin(angle) * std::sin(angle / Radius) / (angle * angle);
}

inline double gaussian(double x) {
  const double sigma = 0.5;  // of a radius of 1.5
  return std::abs(x) >= 1.5 ? 0 : std::exp(-x * x / (2 * sigma * sigma));
}

}  // namespace resampling

inline ResamplingKernel resampling_kernel(std::string_view method) {
  using namespace resampling;
  if (method == "bilinear") return {triangle, 1};
  if (method == "bicubic") return {keys, 2};
  if (method == "mitchellcubic") return {mitchell, 2};
  if (method == "lanczos3") return {lanczos<3>, 3};
  if (method == "lanczos5") return {lanczos<5>, 5};
  if (method == "gaussian") return {gaussian, 1.5};
  if (method == "area") return {triangle, 1};  // its weights are overlaps, not distances
  return {};
}

}  // namespace tidemark
