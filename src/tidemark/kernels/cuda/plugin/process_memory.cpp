// What a process has of a GPU's memory, from libnvidia-ml.so.1, which comes with the driver. Its
// header does not come with every toolkit: the few things that are used are declared here.

#include <unistd.h>

#include <string>
#include <vector>

#include "tidemark/kernels/cuda/plugin/libraries.h"
#include "tidemark/kernels/cuda/plugin/shared_library.h"

namespace tidemark::cuda {

namespace {

constexpr int kUnknown = 999;     // CUDA_ERROR_UNKNOWN
constexpr int kTooFewPlaces = 7;  // NVML_ERROR_INSUFFICIENT_SIZE
constexpr unsigned long long kNotTold = ~0ull;

struct Monitored;  // a GPU, to that library
struct Running {
  unsigned int process;
  unsigned long long bytes;
  unsigned int gpu_instance, compute_instance;
};

struct Monitor {
  int (*init)() = nullptr;
  int (*find)(const char* bus, Monitored** gpu) = nullptr;
  int (*list)(Monitored* gpu, unsigned int* count, Running* found) = nullptr;
  bool is_ready = false;

  Monitor() {
    SharedLibrary library({"libnvidia-ml.so.1"});
    library.find(init, "nvmlInit_v2");
    library.find(find, "nvmlDeviceGetHandleByPciBusId_v2");
    library.find(list, "nvmlDeviceGetComputeRunningProcesses_v3");
    is_ready = library.is_there() && init() == 0;
  }
};

}  // namespace

int process_bytes(const char* bus, size_t* bytes) {
  static const Monitor monitor;
  Monitored* gpu = nullptr;
  if (!monitor.is_ready || monitor.find(bus, &gpu) != 0) return kUnknown;
  unsigned int count = 16;
  std::vector<Running> found(count);
  int status = monitor.list(gpu, &count, found.data());
  if (status == kTooFewPlaces) {
    found.resize(count += 16);  // some may have come since
    status = monitor.list(gpu, &count, found.data());
  }
  if (status != 0) return kUnknown;
  const auto self = static_cast<unsigned int>(::getpid());
  for (unsigned int i = 0; i < count; ++i) {
    if (found[i].process != self || found[i].bytes == kNotTold) continue;
    *bytes = found[i].bytes;
    return kDone;
  }
  return kUnknown;  // in a container the library may know us by another number
}

}  // namespace tidemark::cuda
