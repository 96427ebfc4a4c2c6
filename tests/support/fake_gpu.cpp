// A libtidemark_cuda.so without a GPU, for tests: its memory is the host's, its kernels are
// compiled for the host and run by one thread, its products are loops. Programs then ask for
// "/GPU:0" as on a machine that has one.
//
//   TIDEMARK_FAKE_GPU_BYTES   how much memory it has; 256 MiB unless told
//   TIDEMARK_FAKE_GPU_LATE    set: work is done when somebody waits for it, and not before
//   TIDEMARK_FAKE_GPU_LOG     a file with a line for each source that is compiled

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "tidemark/kernels/cuda/host_products_testing.h"
#include "tidemark/kernels/cuda/host_transforms_testing.h"

namespace tidemark::cuda {
namespace {

/// What CUDA has and the host's compiler does not: one thread does all.
constexpr const char* kShim = R"(
#include <math.h>
#define __global__
#define __shared__ static
struct Place { unsigned int x; };
static const Place blockIdx = {0}, threadIdx = {0}, blockDim = {1}, gridDim = {1};
static void __syncthreads() {}
static unsigned long long atomicCAS(unsigned long long* at, unsigned long long wanted,
                                    unsigned long long value) {
  const unsigned long long old = *at;
  if (old == wanted) *at = value;
  return old;
}
template <class A> constexpr unsigned long bytes_of(void (*)(A)) { return sizeof(A); }
)";

std::string scratch_path() {
  static int count = 0;
  return (std::filesystem::temp_directory_path() /
          ("tidemark-fake-gpu-" + std::to_string(getpid()) + "-" + std::to_string(++count)))
      .string();
}

CompiledCode answer(const std::string& text, size_t bytes) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return {copy, bytes};
}

/// The image is a shared library behind its number of bytes.
CompiledCode compile(const char* source, const char* name, int) {
  if (const char* log = std::getenv("TIDEMARK_FAKE_GPU_LOG")) {
    std::ofstream(log, std::ios::app) << name << "\n";
  }
  const std::string path = scratch_path();
  std::ofstream(path + ".cpp") << kShim << source << "\nextern \"C\" const unsigned long " << name
                               << "_bytes = bytes_of(" << name << ");\n";
  const std::string command =
      "${CXX:-c++} -std=c++17 -w -shared -fPIC -fno-gnu-unique -o " + path + ".so " + path + ".cpp";
  const bool is_right = std::system(command.c_str()) == 0;
  std::ifstream file(path + ".so", std::ios::binary);
  const std::string code{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(path + ".cpp");
  std::filesystem::remove(path + ".so");
  if (!is_right || code.empty()) return answer("the host's compiler refuses", 0);
  const uint64_t bytes = code.size();
  const std::string image = std::string(reinterpret_cast<const char*>(&bytes), sizeof bytes) + code;
  return answer(image, image.size());
}

struct Function {
  void* code;
  unsigned long bytes;
};

int load_module(Handle* module, const void* image) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, image, sizeof bytes);
  const std::string path = scratch_path() + ".so";
  std::ofstream(path, std::ios::binary)
      .write(static_cast<const char*>(image) + sizeof bytes, static_cast<std::streamsize>(bytes));
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::filesystem::remove(path);
  if (!library) return 200;
  *module = reinterpret_cast<Handle>(library);
  return kDone;
}

int find_function(Handle* function, Handle module, const char* name) {
  auto* library = reinterpret_cast<void*>(module);
  void* code = dlsym(library, name);
  void* bytes = dlsym(library, (std::string(name) + "_bytes").c_str());
  if (!code || !bytes) return 500;
  // Few, and as long as the process runs.
  *function =
      reinterpret_cast<Handle>(new Function{code, *static_cast<const unsigned long*>(bytes)});
  return kDone;
}

/// A kernel takes its arguments as a struct by value: of two words in registers, larger ones on the
/// stack, as an array of as many words does.
int launch(Handle function, uint32_t, uint32_t, Handle stream, void* arguments) {
  struct Words {
    uint64_t all[128];
  };
  const auto& found = *reinterpret_cast<const Function*>(function);
  if (found.bytes > sizeof(Words)) return 701;
  struct Two {
    uint64_t all[2];
  };
  if (found.bytes <= sizeof(Two)) {
    Two two{};
    std::memcpy(&two, arguments, found.bytes);
    FakeDriver::now().enqueue(stream, [=] { reinterpret_cast<void (*)(Two)>(found.code)(two); });
    return kDone;
  }
  Words words{};
  std::memcpy(&words, arguments, found.bytes);
  FakeDriver::now().enqueue(stream, [=] { reinterpret_cast<void (*)(Words)>(found.code)(words); });
  return kDone;
}

const Driver* driver(const char**) {
  static const Driver kTable = [] {
    const char* bytes = std::getenv("TIDEMARK_FAKE_GPU_BYTES");
    FakeDriver::now().is_late = std::getenv("TIDEMARK_FAKE_GPU_LATE");
    FakeDriver::now().capacity = bytes ? std::strtoull(bytes, nullptr, 10) : size_t{256} << 20;
    Driver table = FakeDriver::table();
    table.load_module = load_module;
    table.unload_module = [](Handle module) -> int {
      return dlclose(reinterpret_cast<void*>(module));
    };
    table.find_function = find_function;
    table.launch = launch;
    // Of a level without units for small products: threads of a warp compute those together.
    table.describe = [](int device, DeviceFacts* facts) -> int {
      const int status = FakeDriver::table().describe(device, facts);
      if (status == kDone) facts->major = 7;
      return status;
    };
    return table;
  }();
  return &kTable;
}

const SourceCompiler* compiler(const char**) {
  static const SourceCompiler kCompiler = {
      .version = 1,
      .compile = compile,
      .release = [](CompiledCode code) { std::free(code.text); },
  };
  return &kCompiler;
}

const ProductLibrary* products(const char**) { return host_products(); }

const ConvolutionLibrary* convolutions(const char** why) {
  *why = "there is none";
  return nullptr;
}

const TransformLibrary* transforms(const char**) { return host_transforms(); }

}  // namespace
}  // namespace tidemark::cuda

const tidemark::cuda::Libraries* tidemark_cuda_libraries() {
  static const tidemark::cuda::Libraries kLibraries = {
      .driver = tidemark::cuda::driver,
      .compiler = tidemark::cuda::compiler,
      .products = tidemark::cuda::products,
      .convolutions = tidemark::cuda::convolutions,
      .transforms = tidemark::cuda::transforms,
  };
  return &kLibraries;
}
