#include "tidemark/kernels/cuda/context.h"

#include <unistd.h>

namespace tidemark::cuda {

Context::Context(const Driver& driver, int device)
    : driver_(driver), device_(device), process_(getpid()) {
  const auto open = [&](int status, const char* call) {
    if (status == kDone) return;
    fail<FailedPreconditionError>("gpu:", device, " cannot be opened: ", call, " answers ",
                                  driver.explain(status));
  };
  open(driver.describe(device, &facts_), "cuDeviceGetAttribute");
  open(driver.retain_context(device, &context_), "cuDevicePrimaryCtxRetain");
}

void Context::check_process() const {
  if (getpid() == process_) return;
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
