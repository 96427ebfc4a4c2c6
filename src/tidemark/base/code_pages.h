// Machine code that was needed once, to compile, need not stay in the process's resident memory.
#pragma once

#include <tidemark/export.h>

#include <span>
#include <string_view>

namespace tidemark {

/// Unmaps the pages of code and constants of the loaded libraries whose file names begin so. The
/// system keeps them in its cache and maps those that are used again, 16 at a time. Pages that are
/// not as in the file (relocated, or with a debugger's breakpoint) stay. Safe while other threads
/// run that code. Returns the bytes unmapped; 0 where the system does not tell.
TIDEMARK_API size_t release_code_pages(std::span<const std::string_view> libraries);

}  // namespace tidemark
