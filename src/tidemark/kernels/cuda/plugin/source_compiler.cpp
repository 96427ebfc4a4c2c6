// Source to code for a device, by NVRTC.

#include <nvrtc.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "tidemark/kernels/cuda/plugin/libraries.h"
#include "tidemark/kernels/cuda/plugin/shared_library.h"

namespace tidemark::cuda {

namespace {

// clang-format off
#define TIDEMARK_NVRTC_FUNCTIONS(X) \
  X(nvrtcVersion) X(nvrtcCreateProgram) X(nvrtcCompileProgram) X(nvrtcDestroyProgram) \
  X(nvrtcGetProgramLogSize) X(nvrtcGetProgramLog) X(nvrtcGetCUBINSize) X(nvrtcGetCUBIN) \
  X(nvrtcGetErrorString)
// clang-format on

struct Functions {
#define X(name) decltype(&::name) name = nullptr;
  TIDEMARK_NVRTC_FUNCTIONS(X)
#undef X
};
Functions nvrtc;

CompiledCode message(const std::string& text) { return {strdup(text.c_str()), 0}; }

/// What the compiler wrote about the source.
std::string log_of(nvrtcProgram program) {
  size_t bytes = 0;
  if (nvrtc.nvrtcGetProgramLogSize(program, &bytes) != NVRTC_SUCCESS || bytes == 0) return {};
  std::string log(bytes, '\0');
  nvrtc.nvrtcGetProgramLog(program, log.data());
  log.resize(std::strlen(log.c_str()));
  return log;
}

CompiledCode code_of(nvrtcProgram program, nvrtcResult compiled) {
  if (compiled != NVRTC_SUCCESS) {
    return message(std::string(nvrtc.nvrtcGetErrorString(compiled)) + "\n" + log_of(program));
  }
  size_t bytes = 0;
  nvrtcResult status = nvrtc.nvrtcGetCUBINSize(program, &bytes);
  if (status != NVRTC_SUCCESS || bytes == 0) return message("there is no code for this device");
  auto* code = static_cast<char*>(std::malloc(bytes));
  if (!code) return message("no memory for the code");
  status = nvrtc.nvrtcGetCUBIN(program, code);
  if (status == NVRTC_SUCCESS) return {code, bytes};
  std::free(code);
  return message(nvrtc.nvrtcGetErrorString(status));
}

CompiledCode compile(const char* source, const char* name, int level) {
  nvrtcProgram program = nullptr;
  nvrtcResult status = nvrtc.nvrtcCreateProgram(&program, source, name, 0, nullptr, nullptr);
  if (status != NVRTC_SUCCESS) return message(nvrtc.nvrtcGetErrorString(status));
  const std::string target = "--gpu-architecture=sm_" + std::to_string(level);
  // A product and a sum round twice, as on the CPU, whose results are compared.
  const char* options[] = {target.c_str(), "--std=c++17", "--fmad=false", "-default-device"};
  status = nvrtc.nvrtcCompileProgram(program, std::size(options), options);
  const CompiledCode code = code_of(program, status);
  nvrtc.nvrtcDestroyProgram(&program);
  return code;
}

SourceCompiler made = {
    .version = 0,
    .compile = compile,
    .release = [](CompiledCode code) { std::free(code.text); },
};

/// "" when it is ready.
std::string open_compiler() {
  SharedLibrary library({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"});
#define X(name) library.find(nvrtc.name, TIDEMARK_CUDA_NAME(name));
  TIDEMARK_NVRTC_FUNCTIONS(X)
#undef X
  if (!library.is_there()) return std::string("NVRTC is not there: ") + library.why();
  int major = 0, minor = 0;
  const nvrtcResult status = nvrtc.nvrtcVersion(&major, &minor);
  made.version = major * 1000 + minor * 10;
  return status == NVRTC_SUCCESS ? "" : nvrtc.nvrtcGetErrorString(status);
}

}  // namespace

const SourceCompiler* source_compiler(const char** why) {
  static const std::string problem = open_compiler();
  *why = problem.c_str();
  return problem.empty() ? &made : nullptr;
}

}  // namespace tidemark::cuda
