// Kernels of Fourier transforms: lines are copied to scratch, transformed, copied out.
#include <tidemark/kernel.h>

#include <algorithm>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/signal/fft_plan.h"

namespace tidemark::cpu {

namespace {

int64_t lanes(int64_t lines) {
  return std::max<int64_t>(1, std::min<int64_t>(lines, num_threads()));
}

template <class T>
size_t bytes_for(int64_t n, int64_t lines) {
  const int64_t elements =
      FftPlan<T>::table_elements(n) + lanes(lines) * FftPlan<T>::line_elements(n);
  return static_cast<size_t>(elements) * sizeof(Complex<T>);
}

/// Transforms lines of length n: read(i, line) fills the front of a line, write(i, result) takes
/// what came out.
template <class T, class Read, class Write>
void transform_lines(Complex<T>* memory, int64_t n, int64_t lines, const Read& read,
                     const Write& write) {
  if (lines == 0 || n == 0) return;
  Complex<T>* const scratch = memory + FftPlan<T>::table_elements(n);
  const FftPlan<T> plan(n, memory, scratch);
  const int64_t count = lanes(lines), each = (lines + count - 1) / count;
  parallel_for(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t lane = begin; lane < end; ++lane) {
      Complex<T>* line = scratch + lane * FftPlan<T>::line_elements(n);
      for (int64_t i = lane * each; i < std::min(lines, (lane + 1) * each); ++i) {
        read(i, line);
        write(i, plan.run(line));
      }
    }
  });
}

template <class T>
struct ComplexTransform;
template <class T>
struct ComplexTransform<std::complex<T>> {
  static size_t workspace(const OpCall& call, std::span<const Shape>) {
    const Tensor& x = call.inputs[0];
    size_t most = 0;
    for (int64_t axis : call.attr("axes").as_ints()) {
      const int64_t n = x.dim(normalize_axis(axis, x.rank()));
      if (n > 0) most = std::max(most, bytes_for<T>(n, x.num_elements() / n));
    }
    return most;
  }

  static void run(KernelContext& k) {
    const Tensor& x = k.input(0);
    if (x.num_elements() == 0) return;
    const bool inverse = k.attr("inverse").as_bool();
    const auto* from = k.in<Complex<T>>(0);
    auto* to = k.out<Complex<T>>(0);
    const Ints& axes = k.attr("axes").as_ints();
    if (axes.empty()) std::copy_n(from, x.num_elements(), to);
    for (int64_t given : axes) {
      const int axis = normalize_axis(given, x.rank());
      along(k.workspace<Complex<T>>(), x.shape(), axis, inverse, from, to);
      from = to;  // the next axes work in place
    }
  }

  static void along(Complex<T>* memory, const Shape& shape, int axis, bool inverse,
                    const Complex<T>* from, Complex<T>* to) {
    const int64_t n = shape[axis];
    int64_t stride = 1;
    for (int i = axis + 1; i < shape.rank(); ++i) stride *= shape[i];
    const T scale = inverse ? T(1) / static_cast<T>(n) : T(1);
    const T sign = inverse ? T(-1) : T(1);
    const auto first = [&](int64_t i) { return i / stride * stride * n + i % stride; };
    transform_lines<T>(
        memory, n, shape.num_elements() / n,
        [&](int64_t i, Complex<T>* line) {
          const Complex<T>* x = from + first(i);
          each(n, [&](int64_t j) { line[j] = {x[j * stride].re, sign * x[j * stride].im}; });
        },
        [&](int64_t i, const Complex<T>* line) {
          Complex<T>* y = to + first(i);
          each(n, [&](int64_t j) {
            y[j * stride] = {scale * line[j].re, sign * scale * line[j].im};
          });
        });
  }
};

template <class T>
struct FromReal {
  static size_t workspace(const OpCall& call, std::span<const Shape>) {
    const Tensor& x = call.inputs[0];
    return bytes_for<T>(x.dim(-1), x.num_elements() / x.dim(-1));
  }
  static void run(KernelContext& k) {
    const int64_t n = k.input(0).dim(-1), half = n / 2 + 1;
    const T* from = k.in<T>(0);
    auto* to = k.out<Complex<T>>(0);
    transform_lines<T>(
        k.workspace<Complex<T>>(), n, k.input(0).num_elements() / n,
        [&](int64_t i, Complex<T>* line) {
          each(n, [&](int64_t j) { line[j] = {from[i * n + j], 0}; });
        },
        [&](int64_t i, const Complex<T>* line) {
          each(half, [&](int64_t j) { to[i * half + j] = line[j]; });
        });
  }
};

template <class T>
struct ToReal;
template <class T>
struct ToReal<std::complex<T>> {
  static size_t workspace(const OpCall&, std::span<const Shape> outputs) {
    const int64_t n = outputs[0].dim(-1);
    return bytes_for<T>(n, outputs[0].num_elements() / n);
  }
  static void run(KernelContext& k) {
    const int64_t n = k.output(0).dim(-1), half = n / 2 + 1;
    const auto* from = k.in<Complex<T>>(0);
    T* to = k.out<T>(0);
    const T scale = T(1) / static_cast<T>(n);
    transform_lines<T>(
        k.workspace<Complex<T>>(), n, k.output(0).num_elements() / n,
        [&](int64_t i, Complex<T>* line) {
          const Complex<T>* x = from + i * half;
          // A conjugate line transformed forward is the inverse; what is real is so on both ways.
          line[0] = {x[0].re, 0};
          each(half - 1, [&](int64_t before) {
            const int64_t j = before + 1;
            const bool middle = 2 * j == n;
            line[j] = {x[j].re, middle ? T(0) : -x[j].im};
            line[n - j] = {x[j].re, middle ? T(0) : x[j].im};
          });
        },
        [&](int64_t i, const Complex<T>* line) {
          each(n, [&](int64_t j) { to[i * n + j] = scale * line[j].re; });
        });
  }
};

const TypedKernelsOf<KernelKind::cpu, ComplexTransform, std::complex<float>, std::complex<double>>
    fft("fft");
const TypedKernelsOf<KernelKind::cpu, FromReal, float, double> rfft("rfft");
const TypedKernelsOf<KernelKind::cpu, ToReal, std::complex<float>, std::complex<double>> irfft(
    "irfft");

}  // namespace

}  // namespace tidemark::cpu
