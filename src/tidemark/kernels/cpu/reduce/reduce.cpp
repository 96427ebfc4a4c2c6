// Kernels of the reductions over axes.

#include <tidemark/kernel.h>

#include <cmath>

#include "tidemark/kernels/cpu/reduce/reduce_pass.h"

namespace tidemark::cpu {

namespace {

// --- one pass ---------------------------------------------------------------------------------

template <ReduceLoop L>
struct Plain {
  template <class T>
  struct Of {
    using A = typename AccOf<T, L>::type;
    static size_t workspace(const OpCall& call, std::span<const Shape>) {
      return reduction_workspace(ReducePlan::of_call(call), sizeof(A));
    }
    static void run(KernelContext& k) {
      T* out = k.out<T>(0);
      run_pass<T, L>(ReducePlan::of_call(k.call()), reducer_of<T, L>(), k.in<T>(0), nullptr,
                     k.workspace(), [out](int64_t i, A acc) {
                       if constexpr (kIsInt<T>) {
                         out[i] = acc;
                       } else {
                         out[i] = rounded<T>(acc);
                       }
                     });
    }
  };
};
template <class T>
using Sum = Plain<ReduceLoop::sum>::Of<T>;
template <class T>
using Prod = Plain<ReduceLoop::prod>::Of<T>;
template <class T>
using Min = Plain<ReduceLoop::min>::Of<T>;
template <class T>
using Max = Plain<ReduceLoop::max>::Of<T>;

/// Integers divide in 64 bits and truncate; the mean of no integers is 0, of no floats NaN.
template <class T>
struct Mean {
  static constexpr ReduceLoop L = kIsInt<T> ? ReduceLoop::wide_sum : ReduceLoop::sum;
  using A = typename AccOf<T, L>::type;
  static size_t workspace(const OpCall& call, std::span<const Shape>) {
    return reduction_workspace(ReducePlan::of_call(call), sizeof(A));
  }
  static void run(KernelContext& k) {
    const ReducePlan plan = ReducePlan::of_call(k.call());
    T* out = k.out<T>(0);
    const int64_t n = plan.elements_per_output();
    run_pass<T, L>(plan, reducer_of<T, L>(), k.in<T>(0), nullptr, k.workspace(),
                   [out, n](int64_t i, A acc) {
                     if constexpr (kIsInt<T>) {
                       out[i] = n ? static_cast<T>(acc / static_cast<A>(n)) : T{0};
                     } else {
                       out[i] = rounded<T>(acc / static_cast<double>(n));
                     }
                   });
  }
};

/// Integers square and add up in their own type, as TensorFlow's.
template <class T>
struct EuclideanNorm {
  static constexpr ReduceLoop L = ReduceLoop::sum_squares;
  using A = typename AccOf<T, L>::type;
  static size_t workspace(const OpCall& call, std::span<const Shape>) {
    return reduction_workspace(ReducePlan::of_call(call), sizeof(A));
  }
  static void run(KernelContext& k) {
    T* out = k.out<T>(0);
    run_pass<T, L>(ReducePlan::of_call(k.call()), reducer_of<T, L>(), k.in<T>(0), nullptr,
                   k.workspace(), [out](int64_t i, A acc) {
                     const double root = std::sqrt(static_cast<double>(acc));
                     out[i] = std::isnan(root) && kIsInt<T> ? T(0) : rounded<T>(root);
                   });
  }
};

/// bool as bytes of 0 and 1.
template <ReduceLoop L>
void run_bool(KernelContext& k) {
  uint8_t* out = k.out<uint8_t>(0);
  run_pass<uint8_t, L>(ReducePlan::of_call(k.call()), reducer_of<uint8_t, L>(), k.in<uint8_t>(0),
                       nullptr, k.workspace(),
                       [out](int64_t i, uint8_t acc) { out[i] = acc != 0; });
}
size_t bool_workspace(const OpCall& call, std::span<const Shape>) {
  return reduction_workspace(ReducePlan::of_call(call), 1);
}

// --- two passes -------------------------------------------------------------------------------

template <class T>
struct LogSumExp {
  using Lane = typename ReduceTypes<T>::Lane;
  static size_t workspace(const OpCall& call, std::span<const Shape>) {
    return two_pass_workspace<Lane>(ReducePlan::of_call(call));
  }
  static void run(KernelContext& k) {
    const ReducePlan plan = ReducePlan::of_call(k.call());
    Lane* highest = k.workspace<Lane>();
    char* rest = k.workspace<char>() + padded(static_cast<size_t>(plan.outputs()) * sizeof(Lane));
    // Infinite maxima are not subtracted: inf - inf would be NaN.
    run_pass<T, ReduceLoop::max>(
        plan, reducer_of<T, ReduceLoop::max>(), k.in<T>(0), nullptr, rest,
        [highest](int64_t i, Lane acc) { highest[i] = std::isfinite(acc) ? acc : Lane{0}; });
    T* out = k.out<T>(0);
    run_pass<T, ReduceLoop::sum_exp>(
        plan, reducer_of<T, ReduceLoop::sum_exp>(), k.in<T>(0), highest, rest,
        [out, highest](int64_t i, double acc) { out[i] = rounded<T>(std::log(acc) + highest[i]); });
  }
};

template <bool kRoot>
struct Spread {
  template <class T>
  struct Of {
    static size_t workspace(const OpCall& call, std::span<const Shape>) {
      return two_pass_workspace<typename ReduceTypes<T>::Lane>(ReducePlan::of_call(call));
    }
    static void run(KernelContext& k) {
      T* out = k.out<T>(0);
      run_variance(k, ReducePlan::of_call(k.call()), k.in<T>(0),
                   [out](int64_t i, double v) { out[i] = rounded<T>(kRoot ? std::sqrt(v) : v); });
    }
  };
};
template <class T>
using Variance = Spread<false>::Of<T>;
template <class T>
using Std = Spread<true>::Of<T>;

#define TIDEMARK_REDUCE_FLOATS Half, BFloat16, float, double
#define TIDEMARK_REDUCE_INTS \
  int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

const TypedKernelsOf<KernelKind::cpu, Sum, TIDEMARK_REDUCE_FLOATS, TIDEMARK_REDUCE_INTS>
    sum_kernels("sum");
const TypedKernelsOf<KernelKind::cpu, Prod, TIDEMARK_REDUCE_FLOATS, TIDEMARK_REDUCE_INTS>
    prod_kernels("prod");
const TypedKernelsOf<KernelKind::cpu, Min, TIDEMARK_REDUCE_FLOATS, TIDEMARK_REDUCE_INTS>
    min_kernels("min");
const TypedKernelsOf<KernelKind::cpu, Max, TIDEMARK_REDUCE_FLOATS, TIDEMARK_REDUCE_INTS>
    max_kernels("max");
const TypedKernelsOf<KernelKind::cpu, Mean, TIDEMARK_REDUCE_FLOATS, TIDEMARK_REDUCE_INTS>
    mean_kernels("mean");
const TypedKernelsOf<KernelKind::cpu, EuclideanNorm, TIDEMARK_REDUCE_FLOATS, TIDEMARK_REDUCE_INTS>
    norm_kernels("euclidean_norm");
const TypedKernelsOf<KernelKind::cpu, LogSumExp, TIDEMARK_REDUCE_FLOATS> logsumexp_kernels(
    "logsumexp");
const TypedKernelsOf<KernelKind::cpu, Variance, TIDEMARK_REDUCE_FLOATS> variance_kernels(
    "variance");
const TypedKernelsOf<KernelKind::cpu, Std, TIDEMARK_REDUCE_FLOATS> std_kernels("std");
TIDEMARK_KERNEL_OF(cpu, any, kBool, run_bool<ReduceLoop::max>, bool_workspace);
TIDEMARK_KERNEL_OF(cpu, all, kBool, run_bool<ReduceLoop::min>, bool_workspace);

}  // namespace

}  // namespace tidemark::cpu
