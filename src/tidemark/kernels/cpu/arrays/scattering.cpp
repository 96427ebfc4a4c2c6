// Kernels of scatter_nd, tensor_scatter_nd_* and the gradients of gather and gather_nd.
#include <tidemark/kernel.h>

#include "tidemark/kernels/cpu/arrays/combine.h"
#include "tidemark/kernels/cpu/arrays/indices.h"
#include "tidemark/kernels/cpu/arrays/strided_copy.h"

namespace tidemark::cpu {

namespace {

void zero_output(KernelContext& k) {
  zero_bytes(k.out<void>(0), static_cast<int64_t>(k.output(0).nbytes()));
}

/// Combines the slices of `updates` into the output, which holds what they are combined with.
template <class I>
void scatter_points(KernelContext& k, Combine how, const PointLayout& p, const I* indices,
                    const Tensor& updates, bool skip_bad) {
  if (k.output(0).num_elements() == 0 || updates.num_elements() == 0) return;
  combine_rows(how, updates.dtype(), k.out<void>(0), p.batch * p.batch_rows, updates.raw_data(),
               p.count, p.inner, [&](int64_t i) {
                 return skip_bad && !p.is_inside(indices, i) ? -1 : p.row(indices, i);
               });
}

bool ignores_bad_indices(const KernelContext& k) {
  return k.attr("bad_indices_policy").as_string() == "IGNORE";
}

template <class I>
struct ScatterNd {
  static void run(KernelContext& k) {
    const PointLayout p(k.output(0).shape(), k.input(0).shape(), 0);
    const bool skip = ignores_bad_indices(k);
    if (!skip) check_points(k, p, k.in<I>(0), k.output(0).shape(), "");
    zero_output(k);
    scatter_points(k, Combine::add, p, k.in<I>(0), k.input(1), skip);
  }
};

template <class I>
struct GatherNdGrad {
  static void run(KernelContext& k) {
    const auto batch_dims = static_cast<int>(k.attr("batch_dims").as_int());
    const PointLayout p(k.output(0).shape(), k.input(0).shape(), batch_dims);
    check_points(k, p, k.in<I>(0), k.output(0).shape(), "");
    zero_output(k);
    scatter_points(k, Combine::add, p, k.in<I>(0), k.input(1), false);
  }
};

template <class I>
struct GatherGrad {
  static void run(KernelContext& k) {
    const GatherLayout g(k.output(0).shape(), k.input(0).shape(), k.attr("axis"),
                         k.attr("batch_dims").as_int());
    const I* indices = k.in<I>(0);
    check_indices(k, indices, k.input(0), g.limit);
    zero_output(k);
    if (k.input(1).num_elements() == 0) return;
    const int64_t blocks = g.batch * g.outer;
    combine_rows(Combine::add, k.input(1).dtype(), k.out<void>(0), blocks * g.limit, k.in<void>(1),
                 blocks * g.count, g.inner, [&](int64_t i) {
                   if (blocks == 1) return int64_t{indices[i]};
                   const int64_t block = i / g.count;
                   return block * g.limit + indices[block / g.outer * g.count + i % g.count];
                 });
  }
};

template <class I>
void tensor_scatter(KernelContext& k, Combine how) {
  const PointLayout p(k.output(0).shape(), k.input(1).shape(), 0);
  const bool skip = ignores_bad_indices(k);
  // Before anything is written: the output may be the input.
  if (!skip) check_points(k, p, k.in<I>(1), k.output(0).shape(), "");
  if (k.out<void>(0) != k.in<void>(0)) {
    copy_bytes(k.out<void>(0), k.in<void>(0), static_cast<int64_t>(k.output(0).nbytes()));
  }
  scatter_points(k, how, p, k.in<I>(1), k.input(2), skip);
}

template <Combine How>
void tensor_scatter_kernel(KernelContext& k) {
  k.input(1).dtype() == DType::int32 ? tensor_scatter<int32_t>(k, How)
                                     : tensor_scatter<int64_t>(k, How);
}

const TypedKernelsOf<KernelKind::cpu, ScatterNd, int32_t, int64_t> scatter_nd_kernels("scatter_nd");
const TypedKernelsOf<KernelKind::cpu, GatherNdGrad, int32_t, int64_t> gather_nd_grad_kernels(
    "gather_nd_grad");
const TypedKernelsOf<KernelKind::cpu, GatherGrad, int32_t, int64_t> gather_grad_kernels(
    "gather_grad");
TIDEMARK_KERNEL_OF(cpu, tensor_scatter_nd_update, kPlain, tensor_scatter_kernel<Combine::assign>);
TIDEMARK_KERNEL_OF(cpu, tensor_scatter_nd_add, kNumeric, tensor_scatter_kernel<Combine::add>);
TIDEMARK_KERNEL_OF(cpu, tensor_scatter_nd_sub, kNumeric, tensor_scatter_kernel<Combine::subtract>);
TIDEMARK_KERNEL_OF(cpu, tensor_scatter_nd_min, kReal, tensor_scatter_kernel<Combine::min>);
TIDEMARK_KERNEL_OF(cpu, tensor_scatter_nd_max, kReal, tensor_scatter_kernel<Combine::max>);

}  // namespace

}  // namespace tidemark::cpu
