// Kernels of range and linspace.
#include <tidemark/kernel.h>

#include <type_traits>

#include "tidemark/base/thread_pool.h"

namespace tidemark::cpu {

namespace {

constexpr int64_t kGrain = 1 << 14;

template <class T>
struct Range {
  static void run(KernelContext& k) {
    T* to = k.out<T>(0);
    const int64_t count = k.output(0).num_elements();
    if constexpr (std::is_integral_v<T>) {
      // Unsigned arithmetic wraps, so that a range may end at the type's limit.
      const auto start = static_cast<uint64_t>(*k.in<T>(0));
      const auto delta = static_cast<uint64_t>(*k.in<T>(2));
      parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          to[i] = static_cast<T>(start + static_cast<uint64_t>(i) * delta);
        }
      });
    } else {
      using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;
      const Real start = static_cast<Real>(*k.in<T>(0)), delta = static_cast<Real>(*k.in<T>(2));
      parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          to[i] = static_cast<T>(start + static_cast<Real>(i) * delta);
        }
      });
    }
  }
};

template <class T>
struct Linspace {
  using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;

  static void run(KernelContext& k) {
    const Shape& out = k.output(0).shape();
    const int axis = normalize_axis(k.attr("axis").as_int(), out.rank());
    const int64_t num = out[axis];
    int64_t inner = 1;
    for (int i = axis + 1; i < out.rank(); ++i) inner *= out[i];
    T* to = k.out<T>(0);
    parallel_for(k.output(0).num_elements(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t step = i / inner % num;
        const Real start = end_at(k, 0, i, axis), stop = end_at(k, 1, i, axis);
        // The last one is exact, whatever the rounding of the steps before.
        to[i] = step == num - 1 && num > 1
                    ? static_cast<T>(stop)
                    : static_cast<T>(start + (num > 1 ? (stop - start) / static_cast<Real>(num - 1)
                                                      : Real{0}) *
                                                 static_cast<Real>(step));
      }
    });
  }

 private:
  /// The element of start or stop (inputs 0 and 1, broadcast) that output element `flat` uses.
  static Real end_at(const KernelContext& k, int input, int64_t flat, int axis) {
    const Shape& out = k.output(0).shape();
    const Shape& in = k.input(input).shape();
    int64_t offset = 0, step = 1;
    int d = in.rank() - 1;
    for (int i = out.rank() - 1; i >= 0 && d >= 0; --i) {
      const int64_t index = flat % out[i];
      flat /= out[i];
      if (i == axis) continue;
      if (in[d] != 1) offset += index * step;
      step *= in[d--];
    }
    return static_cast<Real>(k.in<T>(input)[offset]);
  }
};

const TypedKernelsOf<KernelKind::cpu, Range, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                     uint32_t, uint64_t, Half, BFloat16, float, double>
    range_kernels("range");
const TypedKernelsOf<KernelKind::cpu, Linspace, Half, BFloat16, float, double> linspace_kernels(
    "linspace");

}  // namespace

}  // namespace tidemark::cpu
