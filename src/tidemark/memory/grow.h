// Growing a buffer where it lies.
#pragma once

#include "tidemark/memory/buffer.h"

namespace tidemark::memory {

/// The owner of the only reference needs `bytes`, more than it has: true, and the contents are
/// kept, though `data` may lie elsewhere; or false, and nothing has changed: there is no room
/// behind them. Large buffers get a sixteenth more than asked for, so that growing bit by bit costs
/// little.
TIDEMARK_API bool grow(Buffer* buffer, size_t bytes) noexcept;

}  // namespace tidemark::memory
