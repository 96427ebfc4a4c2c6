// What devices there are to be opened. Answered in src/tidemark/upcalls.cpp, for it is their
// kernels that know.
#pragma once

#include <tidemark/export.h>

#include <string>
#include <string_view>

namespace tidemark {

/// How many devices of a kind ("gpu") can be opened; none is. 0: `why` says why.
TIDEMARK_API int count_devices(std::string_view kind, std::string& why);

}  // namespace tidemark
