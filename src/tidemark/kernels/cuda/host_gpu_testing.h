// A GPU made of the host, for tests: kernels are written as for any GPU, compiled by the host's
// compiler and run there, block after block, the threads of a block in turn from one barrier to the
// next.
//
//   expect_as_on_cpu({{"gather", {x, indices}, {{"axis", 1}}}, …});
//
// The kernels of a list of calls are compiled at once: the calls are made twice, and the first time
// nothing is launched.
#pragma once

#include <dlfcn.h>
#include <tidemark/call.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "tidemark/kernels/cuda/backend.h"
#include "tidemark/kernels/cuda/device_testing.h"
#include "tidemark/kernels/cuda/host_products_testing.h"
#include "tidemark/kernels/cuda/library.h"
#include "tidemark/kernels/cuda/testing.h"
#include "tidemark/kernels/cuda/texts.h"
#include "tidemark/kernels/queued_kernel.h"
#include "tidemark/kernels/row_counts.h"
#include "tidemark/ops/in_place.h"

namespace tidemark::cuda {

struct GpuCall {
  std::string op;
  std::vector<Tensor> inputs;
  std::vector<std::pair<std::string, Attr>> attrs = {};
  /// Of the terms that a result may be a small difference of; 0: it is none.
  double terms = 0;
  /// The input in whose place the first result is written; -1: it has its own.
  int in_place = -1;
};

/// What CUDA has and the host's compiler does not. Odd rounds go over the threads backwards, so
/// that a missing barrier shows.
inline constexpr const char* kHostShim = R"(
#include <math.h>
#include <stdlib.h>
#include <ucontext.h>
#define __global__
#define __shared__ static
struct Place { unsigned int x; };
static Place blockIdx, threadIdx, blockDim, gridDim;
static ucontext_t tm_host, tm_threads[256];
static bool tm_is_done[256];
typedef void Call();
static Call* tm_call;
static void __syncthreads() { swapcontext(&tm_threads[threadIdx.x], &tm_host); }
static unsigned long long atomicCAS(unsigned long long* at, unsigned long long wanted,
                                    unsigned long long value) {
  const unsigned long long old = *at;
  if (old == wanted) *at = value;
  return old;
}
static void tm_enter() {
  tm_call();
  tm_is_done[threadIdx.x] = true;
}
static void tm_run_block() {
  const size_t bytes = 128 << 10;
  static char* stacks = static_cast<char*>(malloc(256 * bytes));
  for (unsigned t = 0; t < blockDim.x; ++t) {
    getcontext(&tm_threads[t]);
    tm_threads[t].uc_stack.ss_sp = stacks + t * bytes;
    tm_threads[t].uc_stack.ss_size = bytes;
    tm_threads[t].uc_link = &tm_host;
    makecontext(&tm_threads[t], tm_enter, 0);
    tm_is_done[t] = false;
  }
  bool is_done = false;
  for (int round = 0; !is_done; ++round) {
    is_done = true;
    for (unsigned i = 0; i < blockDim.x; ++i) {
      const unsigned t = round % 2 ? blockDim.x - 1 - i : i;
      if (tm_is_done[t]) continue;
      threadIdx.x = t;
      swapcontext(&tm_host, &tm_threads[t]);
      is_done = is_done && tm_is_done[t];
    }
  }
}
template <class A, void (*kernel)(A)>
struct TmLauncher {
  static A* arguments;
  static void call() { kernel(*arguments); }
  static void launch(void* given, unsigned blocks, unsigned threads) {
    arguments = static_cast<A*>(given);
    tm_call = call;
    gridDim.x = blocks;
    blockDim.x = threads;
    for (unsigned b = 0; b < blocks; ++b) {
      blockIdx.x = b;
      tm_run_block();
    }
  }
};
template <class A, void (*kernel)(A)>
A* TmLauncher<A, kernel>::arguments;
template <class A>
A tm_argument(void (*)(A));
)";

class HostGpu {
 public:
  HostGpu() : gpu_((now() = this, open(driver(), makers(), 0))) {
    // Kernels of tests are not kept in the user's cache.
    setenv("XDG_CACHE_HOME", "", 1);
    setenv("HOME", "", 1);
  }
  ~HostGpu() {
    gpu_.reset();
    if (library_) dlclose(library_);
  }

  /// The results of each call, as a GPU's kernels give them. A call that fails gives none, and
  /// `errors` has its words.
  std::vector<std::vector<Tensor>> run(const std::vector<GpuCall>& calls) {
    for (const GpuCall& call : calls) run_one(call);
    compile_all();
    std::vector<std::vector<Tensor>> results;
    for (const GpuCall& call : calls) {
      errors.emplace_back();
      results.push_back(run_one(call));
    }
    return results;
  }
  std::vector<std::string> errors;  // by call; empty: it did not fail

  /// All kernels as one text. With launchers it is for the host, else for NVRTC.
  std::string source(bool for_host) const {
    std::string text = for_host ? kHostShim : "";
    for (const Text& one : all_texts()) text += *one.text;
    for (size_t i = 0; i < kernels_.size(); ++i) {
      const auto& [body, name] = kernels_[i];
      const std::string marked = message(" void ", name, "("), number = std::to_string(i);
      std::string renamed = body;
      renamed.replace(renamed.find(marked), marked.size(), message(" void ", name, number, "("));
      text += message("namespace kernel", number, " {\n", renamed, "}\n");
      if (!for_host) continue;
      const std::string function = message("kernel", number, "::", name, number);
      text += message("extern \"C\" void launch", number,
                      "(void* a, unsigned blocks, unsigned threads) {\n  TmLauncher<decltype("
                      "tm_argument(",
                      function, ")), ", function, ">::launch(a, blocks, threads);\n}\n");
    }
    return text;
  }
  size_t kernels() const { return kernels_.size(); }

 private:
  static HostGpu*& now() {
    static HostGpu* only = nullptr;
    return only;
  }

  static Makers makers() {
    return {compiler, host_products, [] { return static_cast<const ConvolutionLibrary*>(nullptr); },
            [] { return static_cast<const TransformLibrary*>(nullptr); }};
  }

  /// Code is the source itself; of the text only what is the kernel's own is kept.
  static const SourceCompiler& compiler() {
    static const SourceCompiler kCompiler = {
        .version = 1,
        .compile = [](const char* source, const char*, int) -> CompiledCode {
          std::string_view own = source;
          for (const Text& one : all_texts()) {
            if (own.starts_with(*one.text)) own.remove_prefix(std::strlen(*one.text));
          }
          const std::string text(own);
          return {strdup(text.c_str()), text.size() + 1};
        },
        .release = [](CompiledCode code) { std::free(code.text); },
    };
    return kCompiler;
  }
  static const Driver& driver() {
    static const Driver kDriver = [] {
      FakeDriver::fresh().capacity = size_t{1} << 30;
      Driver table = FakeDriver::table();
      table.load_module = [](Handle* module, const void* image) -> int {
        now()->kernels_.emplace_back(static_cast<const char*>(image), "");
        *module = now()->kernels_.size();
        return kDone;
      };
      table.unload_module = [](Handle) -> int { return kDone; };
      table.find_function = [](Handle* function, Handle module, const char* name) -> int {
        now()->kernels_[module - 1].second = name;
        *function = module;
        return kDone;
      };
      table.launch = [](Handle function, uint32_t blocks, uint32_t threads, Handle,
                        void* arguments) -> int {
        if (now()->library_) now()->launch(function - 1, blocks, threads, arguments);
        return kDone;
      };
      return table;
    }();
    return kDriver;
  }

  void launch(size_t kernel, unsigned blocks, unsigned threads, void* arguments) const {
    const std::string name = message("launch", kernel);
    void* function = dlsym(library_, name.c_str());
    if (!function) fail<InternalError>("a kernel that was not there the first time");
    reinterpret_cast<void (*)(void*, unsigned, unsigned)>(function)(arguments, blocks, threads);
  }

  void compile_all() {
    static int libraries = 0;  // each has a name of its own: one that is open is not read again
    const auto folder = std::filesystem::temp_directory_path();
    const std::string file =
        (folder / message("tidemark-host-gpu-", getpid(), "-", ++libraries)).string();
    std::ofstream(file + ".cpp") << source(true);
    const std::string command = message(
        "${CXX:-c++} -std=c++17 -w -shared -fPIC -fno-gnu-unique -o ", file, ".so ", file, ".cpp");
    if (std::system(command.c_str()) == 0) {
      library_ = dlopen((file + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    }
    std::filesystem::remove(file + ".cpp");
    std::filesystem::remove(file + ".so");
    if (!library_) fail<InternalError>("the kernels do not compile for the host");
  }

  std::vector<Tensor> run_one(const GpuCall& given) {
    const OpDef& op = OpRegistry::instance().get(given.op);
    const std::vector<Attr> attrs = attrs_of(given);
    const OpCall call{op, given.inputs, attrs};
    InferContext infer(call, op.num_outputs(attrs));
    op.shape_rule()(infer);
    const DType key = given.inputs.empty() ? infer.output(0).dtype : given.inputs[0].dtype();
    const Kernel* kernel = gpu_->find_kernel(op, key);
    if (!kernel) {
      if (!errors.empty()) errors.back() = "there is no kernel";
      return {};
    }
    QueuedKernel queued;
    queued.op = &op;
    queued.kernel = *kernel;
    queued.attrs = attrs;
    std::vector<Tensor> inputs = given.inputs, outputs;
    if (given.in_place >= 0) inputs[static_cast<size_t>(given.in_place)] = Tensor();
    std::vector<Shape> shapes;
    for (int i = 0; i < infer.num_outputs(); ++i) shapes.push_back(infer.output(i).shape);
    std::vector<char> workspace(kernel->workspace ? kernel->workspace(call, shapes) + 64 : 64);
    queued.workspace = workspace.data() + 64 - reinterpret_cast<size_t>(workspace.data()) % 64;
    const auto add_output = [&](const Shape& shape, DType dtype) {
      outputs.push_back(new_tensor(dtype, shape));
      std::memset(outputs.back().mutable_raw_data(), 0xa5, outputs.back().nbytes());
      queued.outputs.push_back(QueuedKernel::Operand::of(outputs.back()));
      queued.outputs.back().host = Tensor();
    };
    if (given.in_place >= 0) {
      const Tensor& taken_over = given.inputs[static_cast<size_t>(given.in_place)];
      add_output(shapes[0], infer.output(0).dtype);
      std::memcpy(outputs[0].mutable_raw_data(), taken_over.raw_data(), taken_over.nbytes());
      inputs[static_cast<size_t>(given.in_place)] = outputs[0];
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      queued.inputs.push_back(QueuedKernel::Operand::of(inputs[i]));
      if (!op.reads_on_host(i)) queued.inputs.back().host = Tensor();
    }
    if (const KernelRun counts = row_count_of(*kernel)) {
      const int64_t rows = count_rows(queued, counts);
      for (size_t i = 0; library_ && i < shapes.size(); ++i) {
        if (!op.has_rows_from_values(static_cast<int>(i))) continue;
        shapes[i] = with_rows(call, shapes[i], rows);
      }
    }
    while (outputs.size() < shapes.size()) {
      const size_t i = outputs.size();
      add_output(shapes[i], infer.output(static_cast<int>(i)).dtype);
    }
    try {
      gpu_->stream().run(std::move(queued));
      gpu_->stream().wait(gpu_->stream().now());
    } catch (const Error& error) {
      // The first time it may be the kernel's own, of values on the host; then it comes again.
      if (!errors.empty()) errors.back() = error.what();
      return {};
    }
    return outputs;
  }

  int64_t count_rows(const QueuedKernel& queued, KernelRun counts) {
    Tensor rows = new_tensor(DType::int64, {1});
    QueuedKernel counting = queued;
    counting.kernel = {counts, nullptr};
    counting.outputs = {QueuedKernel::Operand::of(rows)};
    counting.outputs[0].host = Tensor();
    gpu_->stream().run(std::move(counting));
    gpu_->stream().wait(gpu_->stream().now());
    return *rows.data<int64_t>();
  }

 public:
  static std::vector<Attr> attrs_of(const GpuCall& given) {
    const OpDef& op = OpRegistry::instance().get(given.op);
    std::vector<Attr> attrs;
    for (const int i : op.attrs()) {
      const Param& param = op.params()[static_cast<size_t>(i)];
      attrs.push_back(param.fallback);
      for (const auto& [name, value] : given.attrs) {
        if (name == param.name) attrs.back() = value;
      }
    }
    return attrs;
  }

 private:
  std::vector<std::pair<std::string, std::string>> kernels_;  // source and name
  void* library_ = nullptr;
  std::unique_ptr<Accelerator> gpu_;
};

/// Where NVRTC is there, it must take the kernels, too.
inline void expect_nvrtc_takes(const HostGpu& gpu) {
  const SourceCompiler* nvrtc = nullptr;
  try {
    nvrtc = &installed_compiler();
  } catch (const FailedPreconditionError&) {
    return;
  }
  const CompiledCode code = nvrtc->compile(gpu.source(false).c_str(), "kernels", 90);
  EXPECT_GT(code.bytes, 0u) << code.text;
  nvrtc->release(code);
}

/// The calls, each also with its result in the place of every input that plans may put it in.
inline std::vector<GpuCall> with_takeovers(const std::vector<GpuCall>& calls) {
  std::vector<GpuCall> all = calls;
  for (const GpuCall& call : calls) {
    const OpDef& op = OpRegistry::instance().get(call.op);
    const std::vector<Attr> attrs = HostGpu::attrs_of(call);
    InferContext infer({op, call.inputs, attrs}, op.num_outputs(attrs));
    op.shape_rule()(infer);
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      const Tensor& t = call.inputs[i];
      if (t.dtype() != infer.output(0).dtype || t.shape() != infer.output(0).shape) continue;
      if (op.reads_on_host(i) || !may_write_into(op, call.inputs, attrs, i)) continue;
      all.push_back(call);
      all.back().in_place = static_cast<int>(i);
    }
  }
  return all;
}

/// Expects of such a GPU what the CPU gives: the same elements, or floats within the tolerances of
/// docs/devices.md; and the same error where there is one. In the place of an input, too.
inline void expect_as_on_cpu(const std::vector<GpuCall>& once) {
  const std::vector<GpuCall> calls = with_takeovers(once);
  HostGpu gpu;
  const std::vector<std::vector<Tensor>> given = gpu.run(calls);
  expect_nvrtc_takes(gpu);
  for (size_t i = 0; i < calls.size(); ++i) {
    std::string what =
        message(i, ": ", calls[i].op, calls[i].in_place < 0 ? "" : " in place", " of ");
    for (const Tensor& t : calls[i].inputs) {
      what += message(name_of(t.dtype()), " ", t.shape().to_string(), " ");
    }
    std::vector<Tensor> wanted;
    std::string error;
    try {
      wanted = call_all(OpRegistry::instance().get(calls[i].op), calls[i].inputs,
                        HostGpu::attrs_of(calls[i]));
    } catch (const Error& raised) {
      error = raised.what();
    }
    EXPECT_EQ(error.empty(), gpu.errors[i].empty()) << what << error << gpu.errors[i];
    ASSERT_EQ(wanted.size(), given[i].size()) << what << gpu.errors[i];
    for (size_t o = 0; o < wanted.size(); ++o) {
      expect_near(wanted[o], given[i][o], message(what, "output ", o), calls[i].terms);
    }
  }
}

}  // namespace tidemark::cuda
