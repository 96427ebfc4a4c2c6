// Kernels of sort, argsort and top_k: all elements are sorted by value, then by their line, and a
// stable sort keeps the order of the first. What it takes is proportional to all elements, however
// few are wanted.

#include "tidemark/kernels/cuda/emit.h"
#include "tidemark/kernels/cuda/lines.h"
#include "tidemark/kernels/cuda/radix_sort.h"

namespace tidemark::cuda {

namespace {

constexpr const char* kText = "sorting.h";

RadixSort sort_of(const Lines& lines, DType dtype) {
  return {lines.count * lines.n, static_cast<int>(size_of(dtype)) * 8};
}

struct Wanted {
  void *values, *positions;  // null: not wanted
  DType index;
  int64_t taken;  // of each line
};

void sort_lines(KernelContext& k, const Lines& lines, bool descends, const Wanted& wanted) {
  if (lines.count * wanted.taken == 0) return;
  CudaStream& stream = cuda_stream_of(k);
  const Tensor& from = k.input(0);
  const int64_t count = lines.count * lines.n;
  const RadixSort by_value = sort_of(lines, from.dtype());
  const std::string key = by_value.key_type();
  const RadixSort::Place first = by_value.unsorted(k.workspace());
  const DeviceFunction make_ranks{
      kText, "make_ranks", {key, stored_type(from.dtype())}, "tm::rank_arguments"};
  make_ranks.run(stream, count, words(from.raw_data(), first.keys, first.order, lines, descends));
  RadixSort::Place sorted = by_value.run(stream, k.workspace());
  if (lines.count > 1) {  // whole bytes take an even number of passes: they are where they were
    const RadixSort by_line(by_value, bits_of(lines.count - 1));
    const DeviceFunction make_lines{kText, "make_lines", {key}, "tm::line_arguments"};
    make_lines.run(stream, count, words(sorted.keys, sorted.order, count, lines.n));
    sorted = by_line.run(stream, k.workspace());
  }
  const DeviceFunction take{kText,
                            "take_sorted",
                            {key, bits_type(size_of(from.dtype())), stored_type(wanted.index)},
                            "tm::sorted_arguments"};
  take.run(
      stream, lines.count * wanted.taken,
      words(from.raw_data(), sorted.order, wanted.values, wanted.positions, lines, wanted.taken));
}

Lines lines_of(const OpCall& call) {
  const Shape& shape = call.inputs[0].shape();
  return {shape, normalize_axis(call.attr("axis").as_int(), shape.rank())};
}
bool descends(const KernelContext& k) { return k.attr("direction").as_string() == "DESCENDING"; }

size_t workspace(const OpCall& call, std::span<const Shape>) {
  const Lines lines = lines_of(call);
  return sort_of(lines, call.inputs[0].dtype()).workspace();
}
void run_sort(KernelContext& k) {
  const Lines lines = lines_of(k.call());
  sort_lines(k, lines, descends(k), {k.out<void>(0), nullptr, DType::int32, lines.n});
}
void run_argsort(KernelContext& k) {
  const Lines lines = lines_of(k.call());
  sort_lines(k, lines, descends(k), {nullptr, k.out<void>(0), DType::int32, lines.n});
}

size_t top_k_workspace(const OpCall& call, std::span<const Shape>) {
  const Lines rows = Lines::rows(call.inputs[0].shape());
  return sort_of(rows, call.inputs[0].dtype()).workspace();
}
void run_top_k(KernelContext& k) {
  sort_lines(k, Lines::rows(k.input(0).shape()), true,
             {k.out<void>(0), k.out<void>(1), k.output(1).dtype(), k.output(0).dim(-1)});
}

TIDEMARK_KERNEL_OF(cuda, sort, kReal, run_sort, workspace);
TIDEMARK_KERNEL_OF(cuda, argsort, kReal, run_argsort, workspace);
TIDEMARK_KERNEL_OF(cuda, top_k, kReal, run_top_k, top_k_workspace);

}  // namespace

}  // namespace tidemark::cuda
