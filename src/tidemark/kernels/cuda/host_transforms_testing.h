// A library of Fourier transforms made of loops, for GPUs that are the host's.
#pragma once

#include <complex>
#include <numbers>

#include "tidemark/kernels/cuda/testing.h"

namespace tidemark::cuda {

/// The sums as they are written, in double precision.
template <class R>
void transform_on_host(const Transform& t, const TransformRun& run) {
  using Number = std::complex<R>;
  const int64_t half = t.n / 2 + 1;
  for (int64_t line = 0; line < t.lines; ++line) {
    std::vector<std::complex<double>> from(static_cast<size_t>(t.n));
    for (int64_t j = 0; j < t.n; ++j) {
      auto& x = from[static_cast<size_t>(j)];
      if (t.kind == Transform::from_real) {
        x = static_cast<double>(
            reinterpret_cast<const R*>(run.in)[line * t.in_line + j * t.in_step]);
        continue;
      }
      const bool is_mirrored = t.kind == Transform::to_real && j >= half;
      const int64_t at = is_mirrored ? t.n - j : j;
      x = std::complex<double>(
          reinterpret_cast<const Number*>(run.in)[line * t.in_line + at * t.in_step]);
      if (is_mirrored) x = std::conj(x);
    }
    const double sign = t.kind == Transform::forward || t.kind == Transform::from_real ? -1 : 1;
    std::vector<std::complex<double>> to(from.size());
    for (int64_t i = 0; i < t.n; ++i) {
      for (int64_t j = 0; j < t.n; ++j) {
        const double angle = sign * 2 * std::numbers::pi * static_cast<double>(i * j % t.n) /
                             static_cast<double>(t.n);
        to[static_cast<size_t>(i)] += from[static_cast<size_t>(j)] * std::polar(1.0, angle);
      }
    }
    const int64_t made = t.kind == Transform::from_real ? half : t.n;
    for (int64_t i = 0; i < made; ++i) {
      const int64_t at = line * t.out_line + i * t.out_step;
      if (t.kind == Transform::to_real) {
        reinterpret_cast<R*>(run.out)[at] = static_cast<R>(to[static_cast<size_t>(i)].real());
      } else {
        reinterpret_cast<Number*>(run.out)[at] = Number(to[static_cast<size_t>(i)]);
      }
    }
  }
}

inline const TransformLibrary* host_transforms() {
  static const TransformLibrary kTable = {
      .prepare = [](Handle, const Transform*, size_t* workspace) -> int {
        *workspace = 64;
        return 0;
      },
      .transform = [](Handle, const Transform* transform, const TransformRun* run) -> int {
        if (run->in % 16 != 0 || run->out % 16 != 0 || run->workspace_bytes < 64) return 1;
        FakeDriver::now().enqueue(run->stream, [t = *transform, r = *run] {
          t.is_double ? transform_on_host<double>(t, r) : transform_on_host<float>(t, r);
        });
        return 0;
      },
      .explain = [](int) { return "refused"; },
  };
  return &kTable;
}

}  // namespace tidemark::cuda
