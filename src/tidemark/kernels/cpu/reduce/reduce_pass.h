// One pass of a reduction with its types, for the kernels that are made of passes.
#pragma once

#include <tidemark/kernel.h>

#include <algorithm>
#include <limits>

#include "tidemark/kernels/cpu/reduce/reduce_run.h"

namespace tidemark::cpu {

template <class T>
constexpr bool kIsInt = std::is_integral_v<T> && !std::is_same_v<T, bool>;

/// Accumulator of a loop over storage type T.
template <class T, ReduceLoop L>
struct AccOf {
  using type = typename ReduceTypes<T>::Wide;
};
template <class T>
struct AccOf<T, ReduceLoop::wide_sum> {
  using type = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
};
template <class T>
struct AccOf<T, ReduceLoop::min> {
  using type = typename ReduceTypes<T>::Lane;
};
template <class T>
struct AccOf<T, ReduceLoop::max> {
  using type = typename ReduceTypes<T>::Lane;
};

template <class A>
A wrapping_add(A a, A b) {
  if constexpr (kIsInt<A>) {
    using U = std::make_unsigned_t<A>;
    return static_cast<A>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  } else {
    return a + b;
  }
}
template <class A>
A wrapping_multiply(A a, A b) {
  if constexpr (kIsInt<A>) {
    // 64 bits, as a product of two uint16 would overflow the int they promote to.
    return static_cast<A>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}

template <class A, ReduceLoop L>
A start_value() {
  using Limits = std::numeric_limits<A>;
  if constexpr (L == ReduceLoop::prod) return A(1);
  if constexpr (L == ReduceLoop::min)
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  if constexpr (L == ReduceLoop::max) {
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
  return A(0);
}

template <class A, ReduceLoop L>
A joined(A a, A b) {
  if constexpr (L == ReduceLoop::prod) return wrapping_multiply(a, b);
  if constexpr (L == ReduceLoop::min) return b < a || b != b ? b : a;
  if constexpr (L == ReduceLoop::max) return b > a || b != b ? b : a;
  if constexpr (L != ReduceLoop::min && L != ReduceLoop::max) return wrapping_add(a, b);
}

template <class T, ReduceLoop L>
Reducer reducer_of(ReduceLoopPair loops) {
  using A = typename AccOf<T, L>::type;
  return {loops,
          sizeof(T),
          sizeof(A),
          sizeof(typename ReduceTypes<T>::Lane),
          [](void* acc, int64_t count) {
            std::fill_n(static_cast<A*>(acc), count, start_value<A, L>());
          },
          [](void* into, const void* from, int64_t count) {
            for (int64_t i = 0; i < count; ++i) {
              A& a = static_cast<A*>(into)[i];
              a = joined<A, L>(a, static_cast<const A*>(from)[i]);
            }
          }};
}

template <class T, ReduceLoop L>
Reducer reducer_of() {
  return reducer_of<T, L>(
      reduce_loops().pairs[static_cast<int>(L)][static_cast<int>(dtype_of<T>())]);
}

/// Runs one pass and hands every result's accumulator to each(index, acc).
template <class T, ReduceLoop L, class Each>
void run_pass(const ReducePlan& plan, const Reducer& reducer, const void* x, const void* params,
              void* workspace, Each each) {
  using A = typename AccOf<T, L>::type;
  run_reduction(plan, reducer, x, params, workspace,
                {[](void* context, int64_t first, int64_t count, const void* acc) {
                   for (int64_t i = 0; i < count; ++i) {
                     (*static_cast<Each*>(context))(first + i, static_cast<const A*>(acc)[i]);
                   }
                 },
                 &each});
}

template <class T>
T rounded(double value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

// --- two passes: params of all results first in the workspace -----------------------------------

inline size_t padded(size_t bytes) { return (bytes + 63) / 64 * 64; }

template <class T>
size_t two_pass_workspace(const ReducePlan& plan) {
  return padded(static_cast<size_t>(plan.outputs()) * sizeof(T)) +
         reduction_workspace(plan, sizeof(double));
}

/// Mean squared distance from the mean: each(index, variance).
template <class T, class Each>
void run_variance(KernelContext& k, const ReducePlan& plan, const T* x, Each each) {
  using Lane = typename ReduceTypes<T>::Lane;
  Lane* means = k.workspace<Lane>();
  char* rest = k.workspace<char>() + padded(static_cast<size_t>(plan.outputs()) * sizeof(Lane));
  const double n = static_cast<double>(plan.elements_per_output());
  run_pass<T, ReduceLoop::sum>(
      plan, reducer_of<T, ReduceLoop::sum>(), x, nullptr, rest,
      [means, n](int64_t i, double acc) { means[i] = static_cast<Lane>(acc / n); });
  run_pass<T, ReduceLoop::sum_square_deviations>(
      plan, reducer_of<T, ReduceLoop::sum_square_deviations>(), x, means, rest,
      [&each, n](int64_t i, double acc) { each(i, acc / n); });
}

}  // namespace tidemark::cpu
