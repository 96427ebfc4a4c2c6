// GPUs by CUDA: memory by the driver's virtual memory calls, kernels written and compiled while the
// process runs. What has no kernel here runs on the host.
#pragma once

#include <memory>
#include <string>

#include "tidemark/base/backend.h"
#include "tidemark/base/device_kinds.h"
#include "tidemark/kernels/cuda/tools.h"

namespace tidemark::cuda {

/// How many GPUs there are. 0: none, and `why` says why.
TIDEMARK_API int count_gpus(std::string& why);

/// Throws InvalidArgumentError where there are fewer, and says how many.
GpuDescription describe_gpu(int index);

/// Null: there are fewer. Throws InvalidArgumentError where there is none at all, and says why;
/// FailedPreconditionError where the GPU refuses.
std::unique_ptr<Accelerator> open(int index);

/// Over another driver: for tests.
std::unique_ptr<Accelerator> open(const Driver& driver, const Makers& makers, int index);

}  // namespace tidemark::cuda
