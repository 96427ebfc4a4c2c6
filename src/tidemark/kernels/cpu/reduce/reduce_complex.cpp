// Reductions of complex numbers. Real and imaginary parts are one more dimension of a real tensor,
// kept or reduced, so the loops of the real reductions serve; products have loops of their own.

#include <cmath>
#include <complex>

#include "tidemark/kernels/cpu/reduce/reduce_pass.h"

namespace tidemark::cpu {

namespace {

/// P: the type of the parts.
template <class P>
struct Parts {
  static ReducePlan plan(const OpCall& call) { return ReducePlan::of_call(call, 2, false); }
  static size_t workspace(const OpCall& call, std::span<const Shape>) {
    return reduction_workspace(plan(call), sizeof(double));
  }

  static void sum(KernelContext& k) {
    P* out = k.out<P>(0);
    run_pass<P, ReduceLoop::sum>(plan(k.call()), reducer_of<P, ReduceLoop::sum>(), k.in<P>(0),
                                 nullptr, k.workspace(),
                                 [out](int64_t i, double acc) { out[i] = static_cast<P>(acc); });
  }

  static void mean(KernelContext& k) {
    P* out = k.out<P>(0);
    const ReducePlan p = plan(k.call());
    const double n = static_cast<double>(p.elements_per_output());
    run_pass<P, ReduceLoop::sum>(
        p, reducer_of<P, ReduceLoop::sum>(), k.in<P>(0), nullptr, k.workspace(),
        [out, n](int64_t i, double acc) { out[i] = static_cast<P>(acc / n); });
  }

  // --- the parts are reduced too --------------------------------------------------------------

  static ReducePlan norm_plan(const OpCall& call) { return ReducePlan::of_call(call, 2, true); }
  static size_t norm_workspace(const OpCall& call, std::span<const Shape>) {
    return reduction_workspace(norm_plan(call), sizeof(double));
  }
  static void norm(KernelContext& k) {
    auto* out = k.out<std::complex<P>>(0);
    run_pass<P, ReduceLoop::sum_squares>(
        norm_plan(k.call()), reducer_of<P, ReduceLoop::sum_squares>(), k.in<P>(0), nullptr,
        k.workspace(), [out](int64_t i, double acc) { out[i] = static_cast<P>(std::sqrt(acc)); });
  }

  // --- variance: that of the real parts and that of the imaginary parts, added -----------------

  static size_t spread_workspace(const OpCall& call, std::span<const Shape>) {
    const ReducePlan p = plan(call);
    return two_pass_workspace<P>(p) + padded(static_cast<size_t>(p.outputs()) * sizeof(double));
  }
  template <bool kRoot>
  static void spread(KernelContext& k) {
    const ReducePlan p = plan(k.call());
    double* parts = reinterpret_cast<double*>(k.workspace<char>() + two_pass_workspace<P>(p));
    run_variance(k, p, k.in<P>(0), [parts](int64_t i, double v) { parts[i] = v; });
    P* out = k.out<P>(0);
    for (int64_t i = 0; i < k.output(0).num_elements(); ++i) {
      const double v = parts[2 * i] + parts[2 * i + 1];
      out[i] = static_cast<P>(kRoot ? std::sqrt(v) : v);
    }
  }
};

template <class P>
struct Product {
  using C = std::complex<P>;
  using Wide = std::complex<double>;

  static void rows(const void* raw, int64_t rows, int64_t stride, int64_t n, const void*,
                   void* acc) {
    const C* x = static_cast<const C*>(raw);
    for (int64_t r = 0; r < rows; ++r) {
      Wide product = static_cast<Wide*>(acc)[r];
      for (int64_t i = 0; i < n; ++i) product *= Wide(x[r * stride + i]);
      static_cast<Wide*>(acc)[r] = product;
    }
  }
  static void columns(const void* raw, int64_t rows, int64_t stride, int64_t width, const void*,
                      void* acc) {
    const C* x = static_cast<const C*>(raw);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t j = 0; j < width; ++j) static_cast<Wide*>(acc)[j] *= Wide(x[r * stride + j]);
    }
  }
  static size_t workspace(const OpCall& call, std::span<const Shape>) {
    return reduction_workspace(ReducePlan::of_call(call), sizeof(Wide));
  }
  static void run(KernelContext& k) {
    C* out = k.out<C>(0);
    const Reducer reducer{
        {rows, columns},
        sizeof(C),
        sizeof(Wide),
        0,
        [](void* acc, int64_t count) { std::fill_n(static_cast<Wide*>(acc), count, Wide(1)); },
        [](void* into, const void* from, int64_t count) {
          for (int64_t i = 0; i < count; ++i) {
            static_cast<Wide*>(into)[i] *= static_cast<const Wide*>(from)[i];
          }
        }};
    run_reduction(ReducePlan::of_call(k.call()), reducer, k.in<C>(0), nullptr, k.workspace(),
                  {[](void* context, int64_t first, int64_t count, const void* acc) {
                     for (int64_t i = 0; i < count; ++i) {
                       static_cast<C*>(context)[first + i] = C(static_cast<const Wide*>(acc)[i]);
                     }
                   },
                   out});
  }
};

#define TIDEMARK_COMPLEX_REDUCTIONS(P, dtype)                                           \
  TIDEMARK_KERNEL_OF(cpu, sum, dtype_set(dtype), Parts<P>::sum, Parts<P>::workspace);   \
  TIDEMARK_KERNEL_OF(cpu, mean, dtype_set(dtype), Parts<P>::mean, Parts<P>::workspace); \
  TIDEMARK_KERNEL_OF(cpu, euclidean_norm, dtype_set(dtype), Parts<P>::norm,             \
                     Parts<P>::norm_workspace);                                         \
  TIDEMARK_KERNEL_OF(cpu, variance, dtype_set(dtype), Parts<P>::spread<false>,          \
                     Parts<P>::spread_workspace);                                       \
  TIDEMARK_KERNEL_OF(cpu, std, dtype_set(dtype), Parts<P>::spread<true>,                \
                     Parts<P>::spread_workspace);                                       \
  TIDEMARK_KERNEL_OF(cpu, prod, dtype_set(dtype), Product<P>::run, Product<P>::workspace)
TIDEMARK_COMPLEX_REDUCTIONS(float, DType::complex64);
TIDEMARK_COMPLEX_REDUCTIONS(double, DType::complex128);
#undef TIDEMARK_COMPLEX_REDUCTIONS

}  // namespace

}  // namespace tidemark::cpu
