#include "tidemark/kernels/cuda/context.h"

#include <pthread.h>

#include "tidemark/base/precision.h"

namespace tidemark::cuda {

constinit std::atomic<int> Context::forks_of_this_process{0};

Context::Context(const Driver& driver, int device)
    : driver_(driver),
      device_(device),
      forks_(forks_of_this_process),
      rounds_float32_(tensor_float_32()) {
  static const int watching = pthread_atfork(nullptr, nullptr, [] { ++forks_of_this_process; });
  static_cast<void>(watching);
  const auto open = [&](int status, const char* call) {
    if (status == kDone) return;
    fail<FailedPreconditionError>("gpu:", device, " cannot be opened: ", call, " answers ",
                                  driver.explain(status));
  };
  open(driver.describe(device, &facts_), "cuDeviceGetAttribute");
  open(driver.retain_context(device, &context_), "cuDevicePrimaryCtxRetain");
}

void Context::fail_forked() const {
  fail<FailedPreconditionError>(
      "a GPU was opened before this process was forked, and CUDA stayed behind: start the process "
      "with \"spawn\", or use the GPU after the fork only");
}

void Context::fail_call(int status, const char* call) const {
  const std::string words = driver_.explain(status);
  if (status == kOutOfMemory) {
    fail<ResourceExhaustedError>("gpu:", device_, " has no memory left for ", call, ": ", words,
                                 ". Other processes, the context and libraries take some, too");
  }
  fail<InternalError>("gpu:", device_, ": ", call, " answers ", words,
                      ". Where it speaks of an illegal address, an earlier kernel is at fault and "
                      "the process can use the GPU no more");
}

}  // namespace tidemark::cuda
