// Kernels of softmax, log_softmax, the cross entropies with logits, and their gradients.

#include "tidemark/kernels/cuda/emit.h"
#include "tidemark/kernels/cuda/lines.h"

namespace tidemark::cuda {

namespace {

constexpr const char* kText = "softmax.h";

Lines lines_of(const KernelContext& k) {
  const Tensor& x = k.input(0);
  const Attr& axis = k.attr("axis");
  return {x.shape(), normalize_axis(axis.is_none() ? -1 : axis.as_int(), x.rank())};
}

/// The worker, and the types of an element.
std::vector<std::string> types_of(const Lines& lines, DType dtype) {
  return {lines.worker(), stored_type(dtype), computed_type(dtype)};
}

template <bool kLog>
void run_softmax(KernelContext& k) {
  if (k.output(0).num_elements() == 0) return;
  const Lines lines = lines_of(k);
  DeviceFunction softmax{kText, "softmax", types_of(lines, k.input(0).dtype()), ""};
  softmax.types.push_back(kLog ? "true" : "false");
  lines.run(cuda_stream_of(k), softmax, words(k.in<void>(0), k.out<void>(0), lines));
}

template <bool kLog>
void run_softmax_grad(KernelContext& k) {
  if (k.output(0).num_elements() == 0) return;
  const Lines lines = lines_of(k);
  DeviceFunction gradient{kText, "softmax_grad", types_of(lines, k.input(0).dtype()), ""};
  gradient.types.push_back(kLog ? "true" : "false");
  lines.run(cuda_stream_of(k), gradient,
            words(k.in<void>(0), k.in<void>(1), k.out<void>(0), lines));
}

template <bool kSparse>
void run_cross_entropy(KernelContext& k) {
  if (k.output(0).num_elements() == 0) return;
  CudaStream& stream = cuda_stream_of(k);
  const Lines rows = Lines::rows(k.input(0).shape());
  DeviceFunction entropy{kText, kSparse ? "sparse_cross_entropy" : "dense_cross_entropy",
                         types_of(rows, k.input(0).dtype()), "tm::cross_entropy_arguments"};
  if (kSparse) entropy.types.push_back(stored_type(k.input(1).dtype()));
  rows.run(stream, entropy,
           words(k.in<void>(0), k.in<void>(1), k.out<void>(0), k.out<void>(1), rows,
                 stream.faults().word(k.call().op, FaultKind::label)));
}

template <bool kSparse>
void run_cross_entropy_grad(KernelContext& k) {
  const Tensor& logits = k.input(0);
  if (logits.num_elements() == 0) return;
  CudaStream& stream = cuda_stream_of(k);
  const Lines rows = Lines::rows(logits.shape());
  DeviceFunction gradient{kText, kSparse ? "sparse_cross_entropy_grad" : "dense_cross_entropy_grad",
                          types_of(rows, logits.dtype()), "tm::cross_entropy_grad_arguments"};
  if (kSparse) gradient.types.push_back(stored_type(k.input(1).dtype()));
  rows.run(stream, gradient,
           words(k.in<void>(0), k.in<void>(1), k.in<void>(2), k.in<void>(3), k.out<void>(0), rows,
                 stream.faults().word(k.call().op, FaultKind::label)));
}

TIDEMARK_KERNEL_OF(cuda, softmax, kFloats, run_softmax<false>);
TIDEMARK_KERNEL_OF(cuda, log_softmax, kFloats, run_softmax<true>);
TIDEMARK_KERNEL_OF(cuda, softmax_grad, kFloats, run_softmax_grad<false>);
TIDEMARK_KERNEL_OF(cuda, log_softmax_grad, kFloats, run_softmax_grad<true>);
TIDEMARK_KERNEL_OF(cuda, sparse_softmax_cross_entropy, kFloats, run_cross_entropy<true>);
TIDEMARK_KERNEL_OF(cuda, sparse_softmax_cross_entropy_grad, kFloats, run_cross_entropy_grad<true>);
TIDEMARK_KERNEL_OF(cuda, softmax_cross_entropy, kFloats, run_cross_entropy<false>);
TIDEMARK_KERNEL_OF(cuda, softmax_cross_entropy_grad, kFloats, run_cross_entropy_grad<false>);

}  // namespace

}  // namespace tidemark::cuda
