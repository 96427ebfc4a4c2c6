// Memory that waits for its next use and goes before an allocation is refused.
#pragma once

#include <tidemark/export.h>

#include <cstddef>

namespace tidemark::memory {

struct Buffer;

/// As set_idle, for a buffer of which only `used` bytes are needed: no more count as a tensor's.
TIDEMARK_API void set_idle(Buffer* buffer, bool idle, size_t used) noexcept;

}  // namespace tidemark::memory
