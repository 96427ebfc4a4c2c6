// Kernels of searchsorted, invert_permutation and bincount.
#include <tidemark/kernel.h>

#include <algorithm>

#include "tidemark/base/serial_for.h"
#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/arrays/combine.h"
#include "tidemark/kernels/cpu/arrays/strided_copy.h"
#include "tidemark/kernels/cpu/sorting/ordering.h"

namespace tidemark::cpu {

namespace {

template <class T, class O>
void search_sorted(KernelContext& k) {
  const Tensor& sequence = k.input(0);
  const int64_t length = sequence.dim(-1);
  const int64_t count = k.output(0).num_elements();
  // One row of values for each row of the sequence; a single sequence serves all values.
  const int64_t rows = sequence.rank() == 1
                           ? 1
                           : std::max<int64_t>(1, count / std::max<int64_t>(1, k.input(1).dim(-1)));
  const int64_t per_row = count / rows;
  const bool right = k.attr("side").as_string() == "right";
  const T* values = k.in<T>(1);
  O* to = k.out<O>(0);
  parallel_for(count, 1 << 12, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* row = k.in<T>(0) + i / per_row * length;
      const T* at = right ? std::upper_bound(row, row + length, values[i], comes_before<T, false>)
                          : std::lower_bound(row, row + length, values[i], comes_before<T, false>);
      to[i] = static_cast<O>(at - row);
    }
  });
}

template <class T>
struct Searchsorted {
  static void run(KernelContext& k) {
    if (k.output(0).num_elements() == 0) return;
    k.output(0).dtype() == DType::int32 ? search_sorted<T, int32_t>(k)
                                        : search_sorted<T, int64_t>(k);
  }
};

template <class T>
struct InvertPermutation {
  static void run(KernelContext& k) {
    const int64_t count = k.input(0).num_elements();
    const T* x = k.in<T>(0);
    T* y = k.out<T>(0);
    serial_for(count, [y](int64_t begin, int64_t end) { std::fill(y + begin, y + end, T{-1}); });
    serial_for(count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if (x[i] < 0 || x[i] >= count) k.fail(x[i], " is not between 0 and ", count);
        if (y[x[i]] != -1) k.fail(x[i], " is duplicated in the input.");
        y[x[i]] = static_cast<T>(i);
      }
    });
  }
};

template <class I>
struct Bincount {
  static void run(KernelContext& k) {
    const Tensor& arr = k.input(0);
    const DType dtype = k.output(0).dtype();
    const I* numbers = k.in<I>(0);
    const int64_t count = arr.num_elements();
    serial_for(count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if (numbers[i] >= 0) continue;
        k.fail("Input arr must be non-negative!; element ", i, " is ", numbers[i]);
      }
    });
    zero_bytes(k.out<void>(0), static_cast<int64_t>(k.output(0).nbytes()));
    if (count == 0 || k.output(0).num_elements() == 0) return;
    const int64_t size = k.output(0).dim(-1);
    const int64_t per_row = arr.rank() == 2 ? arr.dim(1) : count;
    const bool binary = k.attr("binary_output").as_bool();
    const bool weighted = !binary && k.input(2).num_elements() > 0;
    char one[16];
    fill_neutral(Combine::multiply, dtype, one, 1);
    const CombineRow put = combine_row(binary ? Combine::assign : Combine::add, dtype);
    const auto element = static_cast<int64_t>(size_of(dtype));
    serial_for(count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if (numbers[i] >= size) continue;
        const char* from = weighted ? k.in<char>(2) + i * element : one;
        put(k.out<char>(0) + (i / per_row * size + numbers[i]) * element, from, 1);
      }
    });
  }
};

const TypedKernelsOf<KernelKind::cpu, Searchsorted, int8_t, int16_t, int32_t, int64_t, uint8_t,
                     uint16_t, uint32_t, uint64_t, Half, BFloat16, float, double>
    searchsorted_kernels("searchsorted");
const TypedKernelsOf<KernelKind::cpu, InvertPermutation, int32_t, int64_t> invert_kernels(
    "invert_permutation");
const TypedKernelsOf<KernelKind::cpu, Bincount, int32_t, int64_t> bincount_kernels("bincount");

}  // namespace

}  // namespace tidemark::cpu
