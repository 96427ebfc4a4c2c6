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

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Numbers are arguments of a kernel; they count here all the same, so that this holds whatever
/// emit_kernel writes into the text.
void append_key(std::string& bytes, const fusion::FusedProgram& program, const Walk& walk) {
  append(bytes, program.row_dims);
  append(bytes, program.inputs.size());
  for (const DType dtype : program.inputs) append(bytes, dtype);
  for (const fusion::Output& output : program.outputs) {
    append(bytes, output.value);
    append(bytes, output.drops_dims);
  }
  for (const fusion::Instruction& i : program.code) {
    for (const auto flag : {static_cast<uint8_t>(i.code), static_cast<uint8_t>(i.dtype),
                            static_cast<uint8_t>(i.level), static_cast<uint8_t>(i.reduction),
                            static_cast<uint8_t>(i.drawn), i.arity,
                            static_cast<uint8_t>(i.has_seed), static_cast<uint8_t>(i.is_stream)}) {
      append(bytes, flag);
    }
    append(bytes, i.input);
    append(bytes, i.args);
    append(bytes, i.op);
    append(bytes, i.params);
    append(bytes, i.seed);
  }
  walk.append_way(bytes);
}

}  // namespace

std::string key_of(const fusion::FusedProgram& program, const Walk& walk) {
  std::string bytes;
  append_key(bytes, program, walk);
  return bytes;
}

std::shared_ptr<const LoadedCode> code_for(CudaStream& stream, const fusion::FusedProgram& program,
                                           const Walk& walk, const std::string& key) {
  return stream.tools().code.get_keyed(kName, key,
                                       [&] { return emit_kernel(program, walk, kName); });
}

std::shared_ptr<const LoadedCode> code_for(CudaStream& stream, const fusion::FusedProgram& program,
                                           const Walk& walk) {
  static thread_local std::string key;  // its room is used again
  key.clear();
  append_key(key, program, walk);
  return code_for(stream, program, walk, key);
}

void launch_program(CudaStream& stream, const std::shared_ptr<const LoadedCode>& code,
                    const fusion::FusedProgram& program, const Walk& walk,
                    std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  std::vector<const void*> in;
  std::vector<void*> out;
  in.reserve(inputs.size());
  out.reserve(outputs.size());
  for (const Tensor& t : inputs) in.push_back(t.raw_data());
  for (const Tensor& t : outputs) out.push_back(t.mutable_raw_data());
  const bool by_row = program.runs_by_row();
  const int threads = by_row ? threads_for(walk.row) : kThreads;
  const int64_t wanted =
      by_row ? walk.rows : divide_up(walk.count, threads * elements_of_thread(program, walk));
  if (wanted == 0) return;
  const int64_t most = kBlocksPerProcessor * stream.context().facts().processors;
  std::vector<uint64_t> arguments = kernel_arguments(program, walk, in, out);
  stream.launch(code, std::min(wanted, most), threads, arguments.data());
}

}  // namespace tidemark::cuda
