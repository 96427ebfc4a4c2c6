// What devices there are to be opened. Answered in src/tidemark/upcalls.cpp, for it is their
// kernels that know.
#pragma once

#include <tidemark/export.h>

#include <string>
#include <string_view>

namespace tidemark {

/// How many devices of a kind ("gpu") can be opened; none is. 0: `why` says why.
TIDEMARK_API int count_devices(std::string_view kind, std::string& why);

struct GpuDescription {
  std::string name;
  int major = 0, minor = 0;  // of its instruction set
};
/// Of a physical one, which stays closed. Throws InvalidArgumentError where there are fewer.
TIDEMARK_API GpuDescription describe_gpu(int index);

}  // namespace tidemark
