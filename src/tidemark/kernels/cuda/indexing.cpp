// Kernels of gather, gather_nd, their gradients, scatter_nd, tensor_scatter_nd_* and the unsorted
// segment reductions. Several rows that go to one are combined in the order in which they come, as
// on the CPU: they are sorted by where they go.

#include <algorithm>
#include <cstring>
#include <limits>

#include "tidemark/base/plain_type.h"
#include "tidemark/kernels/cuda/emit.h"
#include "tidemark/kernels/cuda/radix_sort.h"
#include "tidemark/kernels/index_layouts.h"

namespace tidemark::cuda {

namespace {

constexpr const char* kText = "indexing.h";

/// Which row each index names, as the device's kernels find it.
struct RowFinder {
  std::string type;  // "tm::GatherRows"
  std::string index_type;
  Words arguments;
  int64_t count;  // of indices, in all blocks
  int64_t rows;   // that can be named
};

RowFinder gather_rows(KernelContext& k, const Tensor& indices, const GatherLayout& g) {
  const Faults::Word fault = cuda_stream_of(k).faults().word(k.call().op, FaultKind::index);
  const int64_t blocks = g.batch * g.outer;
  return {"tm::GatherRows", stored_type(indices.dtype()),
          words(indices.raw_data(), g.count, g.outer, g.limit, fault), blocks * g.count,
          blocks * g.limit};
}

RowFinder point_rows(KernelContext& k, const Tensor& indices, const PointLayout& p, bool skips) {
  const Faults::Word fault = cuda_stream_of(k).faults().word(k.call().op, FaultKind::index);
  const int depth = std::max(p.depth, 1);
  Words all = words(indices.raw_data(), p.depth, std::max<int64_t>(p.per_batch, 1), p.batch_rows,
                    skips, fault);
  for (const int64_t* numbers : {p.size, p.step}) {
    for (int d = 0; d < depth; ++d) add_word(all, d < p.depth ? numbers[d] : 1);
  }
  return {message("tm::PointRows<", depth, ">"), stored_type(indices.dtype()), all, p.count,
          p.batch * p.batch_rows};
}

void take(KernelContext& k, const RowFinder& rows, int64_t inner) {
  const int64_t count = k.output(0).num_elements();
  if (count == 0) return;
  const DeviceFunction take{kText,
                            "take",
                            {bits_type(size_of(k.input(0).dtype())), rows.index_type, rows.type},
                            message("tm::take_arguments<", rows.type, ">")};
  take.run(cuda_stream_of(k), count,
           words(k.in<void>(0), k.out<void>(0), rows.count, inner, rows.arguments));
}

void run_gather(KernelContext& k) {
  const GatherLayout g(k.input(0).shape(), k.input(1).shape(), k.attr("axis"),
                       k.attr("batch_dims").as_int());
  take(k, gather_rows(k, k.input(1), g), g.inner);
}

void run_gather_nd(KernelContext& k) {
  const PointLayout p(k.input(0).shape(), k.input(1).shape(),
                      static_cast<int>(k.attr("batch_dims").as_int()));
  take(k, point_rows(k, k.input(1), p, false), p.inner);
}

// --- Rows combined into rows --------------------------------------------------------------------

enum class Combine { assign, add, subtract, multiply, min, max };

/// How many rows are put, and where to: enough to say what memory sorting them takes.
RadixSort sort_of(int64_t count, int64_t rows) { return {count, bits_of(rows)}; }

/// Combines rows of `inner` elements into the output, which holds what they are combined with.
void combine_rows(KernelContext& k, Combine how, const RowFinder& rows, const Tensor& from,
                  int64_t inner) {
  if (k.output(0).num_elements() == 0 || rows.count == 0 || inner == 0) return;
  CudaStream& stream = cuda_stream_of(k);
  const RadixSort sort = sort_of(rows.count, rows.rows);
  const std::string key = sort.key_type();
  const RadixSort::Place first = sort.unsorted(k.workspace());
  const DeviceFunction make_keys{kText,
                                 "make_keys",
                                 {key, rows.index_type, rows.type},
                                 message("tm::keys_arguments<", rows.type, ">")};
  make_keys.run(stream, rows.count,
                words(first.keys, first.order, rows.count, rows.rows, rows.arguments));
  const RadixSort::Place sorted = sort.run(stream, k.workspace());
  const Words all = words(sorted.keys, sorted.order, from.raw_data(), k.out<void>(0), rows.count,
                          inner, rows.rows);
  constexpr const char* kArguments = "tm::combine_arguments";
  if (how == Combine::assign) {
    const DeviceFunction assign{
        kText, "assign", {key, bits_type(size_of(from.dtype()))}, kArguments};
    return assign.run(stream, rows.count * inner, all);
  }
  constexpr const char* kHow[] = {
      "", "tm::Add", "tm::Subtract", "tm::Multiply", "tm::Smaller", "tm::Larger"};
  const DeviceFunction combine{
      kText, "combine", {key, kHow[static_cast<int>(how)], stored_type(from.dtype())}, kArguments};
  combine.run(stream, rows.count * inner, all);
}

void zero_output(KernelContext& k) {
  if (k.output(0).nbytes() > 0) {
    cuda_stream_of(k).fill_zeros(k.out<void>(0), k.output(0).nbytes());
  }
}

void run_gather_grad(KernelContext& k) {
  const GatherLayout g(k.output(0).shape(), k.input(0).shape(), k.attr("axis"),
                       k.attr("batch_dims").as_int());
  zero_output(k);
  combine_rows(k, Combine::add, gather_rows(k, k.input(0), g), k.input(1), g.inner);
}
size_t gather_grad_workspace(const OpCall& call, std::span<const Shape> outputs) {
  const GatherLayout g(outputs[0], call.inputs[0].shape(), call.attr("axis"),
                       call.attr("batch_dims").as_int());
  const int64_t blocks = g.batch * g.outer;
  return sort_of(blocks * g.count, blocks * g.limit).workspace();
}

size_t points_workspace(const Shape& whole, const Shape& indices, int batch_dims) {
  const PointLayout p(whole, indices, batch_dims);
  return sort_of(p.count, p.batch * p.batch_rows).workspace();
}

bool ignores_bad_indices(const KernelContext& k) {
  return k.attr("bad_indices_policy").as_string() == "IGNORE";
}

void run_scatter_nd(KernelContext& k) {
  const PointLayout p(k.output(0).shape(), k.input(0).shape(), 0);
  zero_output(k);
  combine_rows(k, Combine::add, point_rows(k, k.input(0), p, ignores_bad_indices(k)), k.input(1),
               p.inner);
}
size_t scatter_nd_workspace(const OpCall& call, std::span<const Shape> outputs) {
  return points_workspace(outputs[0], call.inputs[0].shape(), 0);
}

void run_gather_nd_grad(KernelContext& k) {
  const PointLayout p(k.output(0).shape(), k.input(0).shape(),
                      static_cast<int>(k.attr("batch_dims").as_int()));
  zero_output(k);
  combine_rows(k, Combine::add, point_rows(k, k.input(0), p, false), k.input(1), p.inner);
}
size_t gather_nd_grad_workspace(const OpCall& call, std::span<const Shape> outputs) {
  return points_workspace(outputs[0], call.inputs[0].shape(),
                          static_cast<int>(call.attr("batch_dims").as_int()));
}

template <Combine How>
void run_tensor_scatter(KernelContext& k) {
  const PointLayout p(k.output(0).shape(), k.input(1).shape(), 0);
  if (k.output(0).nbytes() == 0) return;
  if (k.out<void>(0) != k.in<void>(0)) {
    cuda_stream_of(k).copy_here(k.out<void>(0), k.in<void>(0), k.output(0).nbytes());
  }
  combine_rows(k, How, point_rows(k, k.input(1), p, ignores_bad_indices(k)), k.input(2), p.inner);
}
size_t tensor_scatter_workspace(const OpCall& call, std::span<const Shape> outputs) {
  return points_workspace(outputs[0], call.inputs[1].shape(), 0);
}

// --- Segments -----------------------------------------------------------------------------------

/// The bits of the element that combining starts from.
Words neutral_bits(Combine how, DType dtype) {
  uint64_t bits[2] = {};
  with_plain_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    T value{};
    const bool is_extreme = how == Combine::min || how == Combine::max;
    if constexpr (std::is_same_v<T, Half>) {
      if (is_extreme) value.bits = how == Combine::min ? 0x7bff : 0xfbff;
    } else if constexpr (std::is_same_v<T, BFloat16>) {
      if (is_extreme) value.bits = how == Combine::min ? 0x7f7f : 0xff7f;
    } else if constexpr (std::is_arithmetic_v<T>) {
      using Limits = std::numeric_limits<T>;
      if (is_extreme) value = how == Combine::min ? Limits::max() : Limits::lowest();
    }
    if (how == Combine::multiply) value = T(1.f);
    std::memcpy(bits, &value, sizeof value);
  });
  return words(bits[0], bits[1]);
}

int64_t ids_of(const OpCall& call) { return call.inputs[1].num_elements(); }

template <Combine How>
void run_unsorted_segment(KernelContext& k) {
  const Tensor& out = k.output(0);
  CudaStream& stream = cuda_stream_of(k);
  const int64_t segments = out.dim(0), ids = ids_of(k.call());
  const DeviceFunction fill{
      "loops.h", "fill_bits", {bits_type(size_of(out.dtype()))}, "tm::fill_arguments"};
  fill.run(stream, out.num_elements(),
           words(k.out<void>(0), out.num_elements(), neutral_bits(How, out.dtype())));
  const Faults::Word fault = stream.faults().word(k.call().op, FaultKind::segment);
  const RowFinder rows{"tm::SegmentRows", stored_type(k.input(1).dtype()),
                       words(k.in<void>(1), segments, fault), ids, segments};
  combine_rows(k, How, rows, k.input(0), ids == 0 ? 0 : k.input(0).num_elements() / ids);
}
size_t unsorted_segment_workspace(const OpCall& call, std::span<const Shape> outputs) {
  return sort_of(ids_of(call), outputs[0][0]).workspace();
}

TIDEMARK_KERNEL_OF(cuda, gather, kPlain, run_gather);
TIDEMARK_KERNEL_OF(cuda, gather_nd, kPlain, run_gather_nd);
TIDEMARK_KERNEL_OF(cuda, gather_grad, kIndex, run_gather_grad, gather_grad_workspace);
TIDEMARK_KERNEL_OF(cuda, gather_nd_grad, kIndex, run_gather_nd_grad, gather_nd_grad_workspace);
TIDEMARK_KERNEL_OF(cuda, scatter_nd, kIndex, run_scatter_nd, scatter_nd_workspace);
#define TIDEMARK_SCATTER(op, dtypes, how) \
  TIDEMARK_KERNEL_OF(cuda, op, dtypes, run_tensor_scatter<Combine::how>, tensor_scatter_workspace)
TIDEMARK_SCATTER(tensor_scatter_nd_update, kPlain, assign);
TIDEMARK_SCATTER(tensor_scatter_nd_add, kNumeric, add);
TIDEMARK_SCATTER(tensor_scatter_nd_sub, kNumeric, subtract);
TIDEMARK_SCATTER(tensor_scatter_nd_min, kReal, min);
TIDEMARK_SCATTER(tensor_scatter_nd_max, kReal, max);
#undef TIDEMARK_SCATTER
#define TIDEMARK_SEGMENT(op, dtypes, how)                                  \
  TIDEMARK_KERNEL_OF(cuda, op, dtypes, run_unsorted_segment<Combine::how>, \
                     unsorted_segment_workspace)
TIDEMARK_SEGMENT(unsorted_segment_sum, kNumeric, add);
TIDEMARK_SEGMENT(unsorted_segment_prod, kNumeric, multiply);
TIDEMARK_SEGMENT(unsorted_segment_min, kReal, min);
TIDEMARK_SEGMENT(unsorted_segment_max, kReal, max);
#undef TIDEMARK_SEGMENT

}  // namespace

}  // namespace tidemark::cuda
