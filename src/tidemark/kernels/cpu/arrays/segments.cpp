// Kernels of the segment reductions.
#include <tidemark/kernel.h>

#include "tidemark/base/serial_for.h"
#include "tidemark/kernels/cpu/arrays/combine.h"
#include "tidemark/kernels/cpu/arrays/indices.h"
#include "tidemark/kernels/cpu/arrays/strided_copy.h"

namespace tidemark::cpu {

namespace {

template <class I>
void unsorted_segment(KernelContext& k, Combine how) {
  const I* ids = k.in<I>(1);
  const int64_t count = k.input(1).num_elements();
  const int64_t segments = k.output(0).dim(0);
  serial_for(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (ids[i] < segments) continue;
      k.fail("segment_ids", position_of(k.input(1).shape(), i), " = ", ids[i],
             " is out of range [0, ", segments, ")");
    }
  });
  const Tensor& data = k.input(0);
  fill_neutral(how, data.dtype(), k.out<void>(0), k.output(0).num_elements());
  if (data.num_elements() == 0) return;
  combine_rows(how, data.dtype(), k.out<void>(0), segments, data.raw_data(), count,
               data.num_elements() / count, [&](int64_t i) { return int64_t{ids[i]}; });
}

template <Combine How>
void unsorted_segment_kernel(KernelContext& k) {
  k.input(1).dtype() == DType::int32 ? unsorted_segment<int32_t>(k, How)
                                     : unsorted_segment<int64_t>(k, How);
}

template <class I>
void check_sorted(const KernelContext& k, const I* ids, int64_t count) {
  serial_for(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (ids[i] >= (i > 0 ? ids[i - 1] : I{0})) continue;
      k.fail("segment ids are not increasing from 0 on: segment_ids[", i, "] = ", ids[i],
             i > 0 ? " comes after " : " is below ", i > 0 ? int64_t{ids[i - 1]} : int64_t{0});
    }
  });
}

enum class Finish { none, mean };

template <class I>
void segment(KernelContext& k, Combine how, Finish finish) {
  const Tensor& data = k.input(0);
  const I* ids = k.in<I>(1);
  const int64_t count = k.input(1).num_elements();
  check_sorted(k, ids, count);
  // Segments without data: 1 for products, else 0.
  fill_neutral(how == Combine::multiply ? how : Combine::add, data.dtype(), k.out<void>(0),
               k.output(0).num_elements());
  if (data.num_elements() == 0) return;
  const int64_t row = data.num_elements() / count;
  const int64_t bytes = row * static_cast<int64_t>(size_of(data.dtype()));
  const CombineRow combine = combine_row(how, data.dtype());
  const CombineRow assign = combine_row(Combine::assign, data.dtype());
  const DivideRow divide = divide_row(data.dtype());
  int64_t first = 0;  // of the run of rows with the same number
  const int64_t rows_a_piece = std::max<int64_t>(1, (int64_t{1} << 16) / row);
  serial_for(
      count,
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          char* to = k.out<char>(0) + ids[i] * bytes;
          const bool starts = i == 0 || ids[i] != ids[i - 1];
          if (starts) first = i;
          (starts ? assign : combine)(to, k.in<char>(0) + i * bytes, row);
          const bool ends = i + 1 == count || ids[i + 1] != ids[i];
          if (ends && finish == Finish::mean) divide(to, row, i + 1 - first);
        }
      },
      rows_a_piece);
}

template <Combine How, Finish End>
void segment_kernel(KernelContext& k) {
  k.input(1).dtype() == DType::int32 ? segment<int32_t>(k, How, End)
                                     : segment<int64_t>(k, How, End);
}

TIDEMARK_KERNEL_OF(cpu, unsorted_segment_sum, kNumeric, unsorted_segment_kernel<Combine::add>);
TIDEMARK_KERNEL_OF(cpu, unsorted_segment_prod, kNumeric,
                   unsorted_segment_kernel<Combine::multiply>);
TIDEMARK_KERNEL_OF(cpu, unsorted_segment_min, kReal, unsorted_segment_kernel<Combine::min>);
TIDEMARK_KERNEL_OF(cpu, unsorted_segment_max, kReal, unsorted_segment_kernel<Combine::max>);
TIDEMARK_KERNEL_OF(cpu, segment_sum, kNumeric, segment_kernel<Combine::add, Finish::none>);
TIDEMARK_KERNEL_OF(cpu, segment_mean, kNumeric, segment_kernel<Combine::add, Finish::mean>);
TIDEMARK_KERNEL_OF(cpu, segment_prod, kNumeric, segment_kernel<Combine::multiply, Finish::none>);
TIDEMARK_KERNEL_OF(cpu, segment_min, kReal, segment_kernel<Combine::min, Finish::none>);
TIDEMARK_KERNEL_OF(cpu, segment_max, kReal, segment_kernel<Combine::max, Finish::none>);

}  // namespace

}  // namespace tidemark::cpu
