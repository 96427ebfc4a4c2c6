// Kernels of the reductions over sorted segments. Their numbers lie on the host, because they tell
// how many segments there are: it finds where each begins, and hands that to the GPU.

#include <vector>

#include "tidemark/kernels/cuda/device_function.h"
#include "tidemark/kernels/cuda/emit.h"

namespace tidemark::cuda {

namespace {

size_t workspace(const OpCall&, std::span<const Shape> outputs) {
  return static_cast<size_t>(outputs[0][0] + 1) * sizeof(int64_t);
}

/// Of each segment its first row, and behind them the number of rows.
template <class I>
std::vector<int64_t> find_firsts(KernelContext& k, const I* ids, int64_t count, int64_t segments) {
  std::vector<int64_t> firsts;
  firsts.reserve(static_cast<size_t>(segments) + 1);
  for (int64_t i = 0; i < count; ++i) {
    const I before = i > 0 ? ids[i - 1] : I{0};
    if (ids[i] < before) {
      k.fail("segment ids are not increasing from 0 on: segment_ids[", i, "] = ", ids[i],
             i > 0 ? " comes after " : " is below ", before);
    }
    while (static_cast<int64_t>(firsts.size()) <= ids[i]) firsts.push_back(i);
  }
  firsts.resize(static_cast<size_t>(segments) + 1, count);
  return firsts;
}

void run(KernelContext& k, const char* how, bool is_mean) {
  const Tensor &data = k.input(0), &ids = k.input(1), &out = k.output(0);
  const int64_t count = ids.num_elements(), segments = out.dim(0);
  const std::vector<int64_t> firsts = ids.dtype() == DType::int32
                                          ? find_firsts(k, k.in<int32_t>(1), count, segments)
                                          : find_firsts(k, k.in<int64_t>(1), count, segments);
  if (out.num_elements() == 0) return;
  CudaStream& stream = cuda_stream_of(k);
  stream.put(k.workspace(), firsts.data(), firsts.size() * sizeof(int64_t));
  const DeviceFunction reduce{"indexing.h",
                              "sorted_segments",
                              {how, stored_type(data.dtype()), is_mean ? "true" : "false"},
                              ""};
  const int64_t inner = out.num_elements() / segments;
  reduce.run(stream, out.num_elements(),
             words(k.in<void>(0), k.out<void>(0), k.workspace(), out.num_elements(), inner,
                   std::string_view(how) == "tm::Multiply"));
}

void run_sum(KernelContext& k) { run(k, "tm::Add", false); }
void run_mean(KernelContext& k) { run(k, "tm::Add", true); }
void run_prod(KernelContext& k) { run(k, "tm::Multiply", false); }
void run_max(KernelContext& k) { run(k, "tm::Larger", false); }
void run_min(KernelContext& k) { run(k, "tm::Smaller", false); }

TIDEMARK_KERNEL_OF(cuda, segment_sum, kNumeric, run_sum, workspace);
TIDEMARK_KERNEL_OF(cuda, segment_mean, kNumeric, run_mean, workspace);
TIDEMARK_KERNEL_OF(cuda, segment_prod, kNumeric, run_prod, workspace);
TIDEMARK_KERNEL_OF(cuda, segment_max, kReal, run_max, workspace);
TIDEMARK_KERNEL_OF(cuda, segment_min, kReal, run_min, workspace);

}  // namespace

}  // namespace tidemark::cuda
