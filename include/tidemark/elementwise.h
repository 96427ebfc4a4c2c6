// An elementwise op by what it does to one element on the CPU. The runtime adds broadcasting, the
// half types and threads, and can fuse it with the elementwise ops around it.
//
//   template <class T>
//   struct Scaled {                       // of an op with `.elementwise()` and the attribute `by`
//     static T of(T x, const cpu::LoopParams& attrs) { return x * T(attrs.values[0]); }
//   };
//   const ElementwiseKernels<Scaled, float, double> kernels("scaled");
#pragma once

#include <tidemark/kernel.h>

namespace tidemark {

namespace cpu {

/// Attributes of the call, as numbers, in the op's order.
struct LoopParams {
  double values[2] = {0, 0};
};

enum class LoopStatus : int { ok = 0, division_by_zero, negative_power };

/// `out` may be the same memory as an input with elements of the same size, and only exactly so.
using LoopFn = LoopStatus (*)(void* out, const void* const* in, int64_t n,
                              const LoopParams& params);

}  // namespace cpu

namespace detail {

/// One dtype of an op: its inputs and its output have it.
struct ElementLoop {
  DType dtype = DType::invalid;
  int arity = 0;
  cpu::LoopFn run = nullptr;
};

/// Throws InvalidArgumentError for an op that is not elementwise, takes other numbers of tensors or
/// has attributes that are no numbers.
TIDEMARK_API void register_element_loops(std::string_view op, std::span<const ElementLoop> loops);

}  // namespace detail

/// Registers F<T>::of, a function of one to three elements and the attributes, for each type T.
/// float covers float16 and bfloat16, too.
template <template <class> class F, class... T>
struct ElementwiseKernels {
  explicit ElementwiseKernels(std::string_view op) {
    detail::register_or_report([&] {
      const detail::ElementLoop loops[] = {loop<T>()...};
      detail::register_element_loops(op, loops);
    });
  }

 private:
  using Attrs = const cpu::LoopParams&;

  template <class U>
  static constexpr detail::ElementLoop loop() {
    if constexpr (requires(U x, Attrs a) { F<U>::of(x, a); }) {
      return {dtype_of<U>(), 1, run<U, 0>};
    } else if constexpr (requires(U x, Attrs a) { F<U>::of(x, x, a); }) {
      return {dtype_of<U>(), 2, run<U, 0, 1>};
    } else {
      return {dtype_of<U>(), 3, run<U, 0, 1, 2>};
    }
  }

  template <class U, int... Input>
  static cpu::LoopStatus run(void* out, const void* const* in, int64_t n, Attrs attrs) {
    U* y = static_cast<U*>(out);
    for (int64_t i = 0; i < n; ++i) {
      y[i] = F<U>::of(static_cast<const U*>(in[Input])[i]..., attrs);
    }
    return cpu::LoopStatus::ok;
  }
};

}  // namespace tidemark
