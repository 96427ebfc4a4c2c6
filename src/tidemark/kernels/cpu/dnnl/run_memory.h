// Memory that oneDNN asks for while a primitive runs: lists of arguments, packed panels of
// matrices. It asks for the same few blocks in every run, so they are kept between runs instead of
// going through the system's allocator each time.
//
// The functions that allocate and free are defined in run_memory.cpp, and this library is opened
// with RTLD_DEEPBIND: oneDNN, whose symbols are looked up in it first, calls them. Outside a
// RunScope they pass everything on.
#pragma once

#include <cstddef>

namespace tidemark_dnnl {

/// While one exists, what this thread allocates in the library comes from kept blocks.
class RunScope {
 public:
  RunScope() noexcept;
  ~RunScope();
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;
};

/// Bytes of blocks that are kept, in use or not, and the most they may come to.
size_t kept_bytes() noexcept;
size_t most_kept_bytes() noexcept;

}  // namespace tidemark_dnnl
