#include "tidemark/kernels/cuda/launch.h"

#include <algorithm>

namespace tidemark::cuda {

namespace {

/// Blocks enough to keep the GPU busy; they take in turn what is left.
constexpr int64_t kBlocksPerProcessor = 32;

constexpr const char* kName = "fused";

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// As many as a short row has elements, in whole warps.
int threads_for(int64_t row) {
  return static_cast<int>(std::clamp<int64_t>(divide_up(row, 32) * 32, 32, kThreads));
}

}  // namespace

std::shared_ptr<const LoadedCode> code_for(CudaStream& stream, const fusion::Program& program,
                                           const Walk& walk) {
  return stream.tools().code.get(kName, emit_kernel(program, walk, kName));
}

void launch_program(CudaStream& stream, const LoadedCode& code, const fusion::Program& program,
                    const Walk& walk, std::span<const Tensor> inputs,
                    std::span<const Tensor> outputs) {
  std::vector<const void*> in;
  std::vector<void*> out;
  for (const Tensor& t : inputs) in.push_back(t.raw_data());
  for (const Tensor& t : outputs) out.push_back(t.mutable_raw_data());
  const bool by_row = program.runs_by_row();
  const int threads = by_row ? threads_for(walk.row) : kThreads;
  const int64_t wanted = by_row ? walk.rows : divide_up(walk.count, threads);
  if (wanted == 0) return;
  const int64_t most = kBlocksPerProcessor * stream.context().facts().processors;
  std::vector<uint64_t> arguments = kernel_arguments(program, walk, in, out);
  stream.launch(code.function(), std::min(wanted, most), threads, arguments.data());
}

}  // namespace tidemark::cuda
