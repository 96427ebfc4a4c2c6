// Kernels of the cumulative ops, argmin, argmax and in_top_k.

#include "tidemark/kernels/cuda/emit.h"
#include "tidemark/kernels/cuda/lines.h"

namespace tidemark::cuda {

namespace {

constexpr const char* kText = "scans.h";

enum class Scan { sum, prod, log_sum };

/// What runs along: integers wrap around in 64 bits as in fewer.
const char* running_type(DType dtype) {
  if (is_floating(dtype)) return "double";
  return kUnsignedInts.contains(dtype) ? "tm::uint64" : "tm::int64";
}

template <Scan kScan>
void run_scan(KernelContext& k) {
  const Tensor& x = k.input(0);
  if (x.num_elements() == 0) return;
  Lines lines(x.shape(), normalize_axis(k.attr("axis").as_int(), x.rank()));
  DType dtype = x.dtype();
  if (is_complex(dtype)) {  // whose parts add up by themselves
    dtype = dtype == DType::complex64 ? DType::float32 : DType::float64;
    lines.inner *= 2;
    lines.count *= 2;
  }
  const std::string acc = running_type(dtype);
  constexpr const char* kOps[] = {"tm::RunningSum<", "tm::RunningProduct<", "tm::RunningLogSum<"};
  const DeviceFunction scan{
      kText,
      "scan",
      {lines.worker(), stored_type(dtype), acc, kOps[static_cast<int>(kScan)] + acc + ">"},
      ""};
  lines.run(cuda_stream_of(k), scan,
            words(k.in<void>(0), k.out<void>(0), lines, k.attr("exclusive").as_bool(),
                  k.attr("reverse").as_bool()));
}

template <bool kMax>
void run_arg(KernelContext& k) {
  const Tensor& x = k.input(0);
  if (k.output(0).num_elements() == 0) return;
  const Attr& axis = k.attr("axis");
  const Lines lines(x.shape(), normalize_axis(axis.is_none() ? 0 : axis.as_int(), x.rank()));
  const DeviceFunction arg{kText,
                           "arg",
                           {lines.worker(), stored_type(x.dtype()), computed_type(x.dtype()),
                            stored_type(k.output(0).dtype()), kMax ? "true" : "false"},
                           ""};
  lines.run(cuda_stream_of(k), arg, words(k.in<void>(0), k.out<void>(0), lines));
}

void run_in_top_k(KernelContext& k) {
  const int64_t rows = k.output(0).num_elements();
  const DeviceFunction in_top_k{kText, "in_top_k", {stored_type(k.input(0).dtype())}, ""};
  in_top_k.run(cuda_stream_of(k), rows,
               words(k.in<void>(0), k.in<void>(1), k.out<void>(0), rows, k.input(1).dim(1),
                     k.attr("k").as_int()));
}

TIDEMARK_KERNEL_OF(cuda, cumsum, kNumeric, run_scan<Scan::sum>);
TIDEMARK_KERNEL_OF(cuda, cumprod, kReal, run_scan<Scan::prod>);
TIDEMARK_KERNEL_OF(cuda, cumulative_logsumexp, kFloats, run_scan<Scan::log_sum>);
TIDEMARK_KERNEL_OF(cuda, argmax, kReal | kBool, run_arg<true>);
TIDEMARK_KERNEL_OF(cuda, argmin, kReal | kBool, run_arg<false>);
TIDEMARK_KERNEL_OF(cuda, in_top_k, kIndex, run_in_top_k);

}  // namespace

}  // namespace tidemark::cuda
