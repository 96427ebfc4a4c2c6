// The driver's functions, from libcuda.so.1.

#include <cuda.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include "tidemark/kernels/cuda/interface.h"
#include "tidemark/kernels/cuda/plugin/libraries.h"
#include "tidemark/kernels/cuda/plugin/shared_library.h"

namespace tidemark::cuda {

namespace {

static_assert(CUDA_SUCCESS == kDone && CUDA_ERROR_OUT_OF_MEMORY == kOutOfMemory &&
              CUDA_ERROR_NOT_READY == kNotReady);

// clang-format off
#define TIDEMARK_DRIVER_FUNCTIONS(X) \
  X(cuInit) X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceTotalMem) \
  X(cuDeviceGetPCIBusId) \
  X(cuDeviceGetAttribute) X(cuDevicePrimaryCtxRetain) X(cuCtxPushCurrent) \
  X(cuCtxPopCurrent) X(cuCtxSynchronize) X(cuMemGetInfo) X(cuMemGetAllocationGranularity) \
  X(cuMemAddressReserve) X(cuMemCreate) X(cuMemRelease) X(cuMemMap) X(cuMemSetAccess) \
  X(cuMemUnmap) X(cuMemHostAlloc) X(cuMemFreeHost) X(cuStreamCreate) X(cuStreamDestroy) \
  X(cuEventCreate) X(cuEventElapsedTime) X(cuEventDestroy) X(cuEventRecord) X(cuEventQuery) X(cuEventSynchronize) \
  X(cuStreamWaitEvent) X(cuMemcpyHtoDAsync) X(cuMemsetD8Async) X(cuMemcpyDtoHAsync) \
  X(cuMemcpyDtoDAsync) X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction) \
  X(cuLaunchKernel) X(cuPointerGetAttribute) X(cuGetErrorName) X(cuGetErrorString) \
  X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuGraphGetNodes) X(cuGraphDestroy) \
  X(cuGraphInstantiateWithFlags) X(cuGraphLaunch) X(cuGraphExecDestroy) \
  X(cuStreamGetCaptureInfo) X(cuGraphExecKernelNodeSetParams)
// clang-format on

struct Functions {
#define X(name) decltype(&::name) name = nullptr;
  TIDEMARK_DRIVER_FUNCTIONS(X)
#undef X
};
Functions cuda;

template <class T>
Handle handle(T object) {
  return reinterpret_cast<Handle>(object);
}
template <>
Handle handle(CUmemGenericAllocationHandle pages) {
  return pages;
}
CUstream stream_of(Handle h) { return reinterpret_cast<CUstream>(h); }
CUevent event_of(Handle h) { return reinterpret_cast<CUevent>(h); }
CUmodule module_of(Handle h) { return reinterpret_cast<CUmodule>(h); }

/// Runs `make` on an object of CUDA's and hands it on.
template <class T, class Make>
int made(Handle* out, Make make) {
  T object{};
  const int status = make(&object);
  if (status == kDone) *out = handle(object);
  return status;
}

CUmemAllocationProp pages_on(int device) {
  CUmemAllocationProp wish{};
  wish.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wish.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  wish.location.id = device;
  return wish;
}

int describe(int number, DeviceFacts* facts) {
  CUdevice device;
  if (const int status = cuda.cuDeviceGet(&device, number)) return status;
  DeviceFacts found{};
  const CUmemAllocationProp wish = pages_on(number);
  const auto attribute = [&](int* value, CUdevice_attribute which) -> int {
    return cuda.cuDeviceGetAttribute(value, which, device);
  };
  for (const int status :
       {int(cuda.cuDeviceGetName(found.name, sizeof found.name, device)),
        int(cuda.cuDeviceTotalMem(&found.bytes, device)),
        int(cuda.cuMemGetAllocationGranularity(&found.page_bytes, &wish,
                                               CU_MEM_ALLOC_GRANULARITY_MINIMUM)),
        attribute(&found.major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        attribute(&found.minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        attribute(&found.processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)}) {
    if (status != kDone) return status;
  }
  *facts = found;
  return kDone;
}

int retain_context(int number, Handle* context) {
  CUdevice device;
  if (const int status = cuda.cuDeviceGet(&device, number)) return status;
  return made<CUcontext>(
      context, [&](CUcontext* made) { return cuda.cuDevicePrimaryCtxRetain(made, device); });
}

int process_bytes_of(int number, size_t* bytes) {
  CUdevice device;
  char bus[32] = {};
  if (const int status = cuda.cuDeviceGet(&device, number)) return status;
  if (const int status = cuda.cuDeviceGetPCIBusId(bus, sizeof bus, device)) return status;
  return process_bytes(bus, bytes);
}

int push_context(Handle context) {
  return cuda.cuCtxPushCurrent(reinterpret_cast<CUcontext>(context));
}
int pop_context() {
  CUcontext popped;
  return cuda.cuCtxPopCurrent(&popped);
}

int create_pages(Handle* pages, size_t bytes, int device) {
  const CUmemAllocationProp wish = pages_on(device);
  return made<CUmemGenericAllocationHandle>(pages, [&](CUmemGenericAllocationHandle* made) {
    return cuda.cuMemCreate(made, bytes, &wish, 0);
  });
}

int allow_access(Address start, size_t bytes, int device) {
  CUmemAccessDesc access{};
  access.location = pages_on(device).location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return cuda.cuMemSetAccess(start, bytes, &access, 1);
}

int reserve(Address* start, size_t bytes) {
  CUdeviceptr reserved = 0;
  const int status = cuda.cuMemAddressReserve(&reserved, bytes, 0, 0, 0);
  if (status == kDone) *start = reserved;
  return status;
}

int launch(Handle function, uint32_t blocks, uint32_t threads, Handle stream, void* arguments) {
  void* parameters[] = {arguments};
  return cuda.cuLaunchKernel(reinterpret_cast<CUfunction>(function), blocks, 1, 1, threads, 1, 1, 0,
                             stream_of(stream), parameters, nullptr);
}

/// What was enqueued, which names the pieces, and the executable form of it.
struct Recorded {
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  ~Recorded() {
    if (executable) cuda.cuGraphExecDestroy(executable);
    if (graph) cuda.cuGraphDestroy(graph);
  }
};
Recorded* recorded_of(Handle h) { return reinterpret_cast<Recorded*>(h); }

int end_recording(Handle stream, Handle* recording, size_t* pieces) {
  auto made = std::make_unique<Recorded>();
  int status = cuda.cuStreamEndCapture(stream_of(stream), &made->graph);
  if (status == kDone && !made->graph) status = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (status == kDone) status = cuda.cuGraphGetNodes(made->graph, nullptr, pieces);
  if (status == kDone) {
    status = cuda.cuGraphInstantiateWithFlags(&made->executable, made->graph, 0);
  }
  if (status == kDone) *recording = reinterpret_cast<Handle>(made.release());
  return status;
}

/// All that is enqueued while recording comes one behind the other.
int last_recorded(Handle stream, Handle* piece) {
  CUstreamCaptureStatus state = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t number = 0;
  CUgraph graph = nullptr;
  const CUgraphNode* last = nullptr;
  size_t count = 0;
#if CUDA_VERSION >= 13000
  const int status = cuda.cuStreamGetCaptureInfo(stream_of(stream), &state, &number, &graph, &last,
                                                 nullptr, &count);
#else
  const int status =
      cuda.cuStreamGetCaptureInfo(stream_of(stream), &state, &number, &graph, &last, &count);
#endif
  if (status != kDone) return status;
  if (state != CU_STREAM_CAPTURE_STATUS_ACTIVE || count != 1) {
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  }
  *piece = reinterpret_cast<Handle>(*last);
  return kDone;
}

int change_launch(Handle recording, Handle piece, Handle function, uint32_t blocks,
                  uint32_t threads, void* arguments) {
  void* parameters[] = {arguments};
  CUDA_KERNEL_NODE_PARAMS launch{};
  launch.func = reinterpret_cast<CUfunction>(function);
  launch.gridDimX = blocks;
  launch.gridDimY = launch.gridDimZ = launch.blockDimY = launch.blockDimZ = 1;
  launch.blockDimX = threads;
  launch.kernelParams = parameters;
  return cuda.cuGraphExecKernelNodeSetParams(recorded_of(recording)->executable,
                                             reinterpret_cast<CUgraphNode>(piece), &launch);
}

const char* explain(int status) {
  static thread_local std::string text;
  const char *name = nullptr, *words = nullptr;
  cuda.cuGetErrorName(static_cast<CUresult>(status), &name);
  cuda.cuGetErrorString(static_cast<CUresult>(status), &words);
  text = name ? name : "CUDA error " + std::to_string(status);
  if (words) text += std::string(": ") + words;
  return text.c_str();
}

constexpr Driver kDriver = {
    .count_devices = [](int* count) -> int { return cuda.cuDeviceGetCount(count); },
    .describe = describe,
    .retain_context = retain_context,
    .push_context = push_context,
    .pop_context = pop_context,
    .memory_info = [](size_t* free, size_t* total) -> int {
      return cuda.cuMemGetInfo(free, total);
    },
    .process_bytes = process_bytes_of,
    .synchronize = []() -> int { return cuda.cuCtxSynchronize(); },
    .find_device = [](Address at, int* device) -> int {
      return cuda.cuPointerGetAttribute(device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at);
    },
    .reserve = reserve,
    .create_pages = create_pages,
    .release_pages = [](Handle pages) -> int { return cuda.cuMemRelease(pages); },
    .map = [](Address start, size_t bytes, Handle pages) -> int {
      return cuda.cuMemMap(start, bytes, 0, pages, 0);
    },
    .allow_access = allow_access,
    .unmap = [](Address start, size_t bytes) -> int { return cuda.cuMemUnmap(start, bytes); },
    .pin = [](void** memory, size_t bytes) -> int { return cuda.cuMemHostAlloc(memory, bytes, 0); },
    .unpin = [](void* memory) -> int { return cuda.cuMemFreeHost(memory); },
    .create_stream = [](Handle* stream) -> int {
      return made<CUstream>(
          stream, [](CUstream* made) { return cuda.cuStreamCreate(made, CU_STREAM_NON_BLOCKING); });
    },
    .destroy_stream = [](Handle stream) -> int { return cuda.cuStreamDestroy(stream_of(stream)); },
    .create_event = [](Handle* event) -> int {
      return made<CUevent>(
          event, [](CUevent* made) { return cuda.cuEventCreate(made, CU_EVENT_DISABLE_TIMING); });
    },
    .create_timed_event = [](Handle* event) -> int {
      return made<CUevent>(
          event, [](CUevent* made) { return cuda.cuEventCreate(made, CU_EVENT_DEFAULT); });
    },
    .elapsed = [](float* milliseconds, Handle earlier, Handle later) -> int {
      return cuda.cuEventElapsedTime(milliseconds, event_of(earlier), event_of(later));
    },
    .destroy_event = [](Handle event) -> int { return cuda.cuEventDestroy(event_of(event)); },
    .record = [](Handle event, Handle stream) -> int {
      return cuda.cuEventRecord(event_of(event), stream_of(stream));
    },
    .query = [](Handle event) -> int { return cuda.cuEventQuery(event_of(event)); },
    .await = [](Handle event) -> int { return cuda.cuEventSynchronize(event_of(event)); },
    .follow = [](Handle stream, Handle event) -> int {
      return cuda.cuStreamWaitEvent(stream_of(stream), event_of(event), 0);
    },
    .copy_in = [](Address to, const void* pinned, size_t bytes, Handle stream) -> int {
      return cuda.cuMemcpyHtoDAsync(to, pinned, bytes, stream_of(stream));
    },
    .copy_out = [](void* pinned, Address from, size_t bytes, Handle stream) -> int {
      return cuda.cuMemcpyDtoHAsync(pinned, from, bytes, stream_of(stream));
    },
    .copy = [](Address to, Address from, size_t bytes, Handle stream) -> int {
      return cuda.cuMemcpyDtoDAsync(to, from, bytes, stream_of(stream));
    },
    .fill_zeros = [](Address start, size_t bytes, Handle stream) -> int {
      return cuda.cuMemsetD8Async(start, 0, bytes, stream_of(stream));
    },
    .load_module = [](Handle* module, const void* image) -> int {
      return made<CUmodule>(module,
                            [&](CUmodule* made) { return cuda.cuModuleLoadData(made, image); });
    },
    .unload_module = [](Handle module) -> int { return cuda.cuModuleUnload(module_of(module)); },
    .find_function = [](Handle* function, Handle module, const char* name) -> int {
      return made<CUfunction>(function, [&](CUfunction* made) {
        return cuda.cuModuleGetFunction(made, module_of(module), name);
      });
    },
    .launch = launch,
    .begin_recording = [](Handle stream) -> int {
      // Other threads go on with streams of theirs, and libraries with what they do.
      return cuda.cuStreamBeginCapture(stream_of(stream), CU_STREAM_CAPTURE_MODE_RELAXED);
    },
    .last_recorded = last_recorded,
    .end_recording = end_recording,
    .change_launch = change_launch,
    .play = [](Handle recording, Handle stream) -> int {
      return cuda.cuGraphLaunch(recorded_of(recording)->executable, stream_of(stream));
    },
    .destroy_recording = [](Handle recording) -> int {
      delete recorded_of(recording);
      return kDone;
    },
    .explain = explain,
};

/// "" when the driver is ready.
std::string open_driver() {
  SharedLibrary library({"libcuda.so.1"});
#define X(name) library.find(cuda.name, TIDEMARK_CUDA_NAME(name));
  TIDEMARK_DRIVER_FUNCTIONS(X)
#undef X
  if (!library.is_there()) return std::string("the driver is not there: ") + library.why();
  const CUresult status = cuda.cuInit(0);
  return status == CUDA_SUCCESS ? "" : explain(status);
}

}  // namespace

const Driver* driver(const char** why) {
  static const std::string problem = open_driver();
  *why = problem.c_str();
  return problem.empty() ? &kDriver : nullptr;
}

}  // namespace tidemark::cuda
