#include "tidemark/kernels/cuda/device_function.h"

#include <algorithm>

#include "tidemark/kernels/cuda/emit.h"

namespace tidemark::cuda {

namespace {

/// Blocks enough to keep the GPU busy; they take in turn what is left.
constexpr int64_t kBlocksPerProcessor = 32;

}  // namespace

std::string DeviceFunction::source() const {
  std::string list;
  for (const std::string& type : types) list += (list.empty() ? "<" : ", ") + type;
  if (!list.empty()) list += ">";
  const std::string taken = arguments.empty() ? message("tm::", name, "_arguments") : arguments;
  std::string source = "#include \"loops.h\"\n";
  const auto takes = [&](std::string_view whose, std::string_view other) {
    if (text == whose) source += message("#include \"", other, "\"\n");
  };
  takes("linalg.h", "complex.h");
  takes("decompositions.h", "complex.h");
  takes("ctc.h", "complex.h");
  takes("ctc.h", "linalg.h");
  takes("decompositions.h", "linalg.h");
  takes("picking.h", "sorting.h");
  takes("searching.h", "sorting.h");
  takes("flash.h", "attention.h");
  takes("flash.h", "tensor_cores.h");
  if (text != std::string_view("loops.h")) source += message("#include \"", text, "\"\n");
  return source + message("extern \"C\" __global__ void ", name, "(const ", taken,
                          " a) {\n  tm::", name, list, "(a);\n}\n");
}

void DeviceFunction::run(CudaStream& stream, int64_t elements, Words words) const {
  run_blocks(stream, (elements + kThreads - 1) / kThreads, std::move(words));
}

void DeviceFunction::run_blocks(CudaStream& stream, int64_t blocks, Words words) const {
  if (blocks == 0) return;
  const auto code = stream.tools().code.get(name, source());
  const int64_t most = kBlocksPerProcessor * stream.context().facts().processors;
  stream.launch(code, std::min(blocks, most), kThreads, words.data());
}

const char* bits_type(size_t bytes) {
  return bytes == 1   ? "tm::uint8"
         : bytes == 2 ? "tm::uint16"
         : bytes == 4 ? "tm::uint32"
         : bytes == 8 ? "tm::uint64"
                      : "tm::Complex<double>";
}

}  // namespace tidemark::cuda
