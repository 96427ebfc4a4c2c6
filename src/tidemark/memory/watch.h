// Observers of buffers: they are told of every change of the ledgers, the CPU's and those of other
// devices, under the lock that all have in common.
#pragma once

#include "tidemark/base/attached.h"
#include "tidemark/memory/buffer.h"

namespace tidemark::memory {

/// Lists the live buffers to the observer and attaches it, with nothing in between.
TIDEMARK_API void start_watching(Observer& observer);
/// No call about a buffer is running or will come when this returns.
TIDEMARK_API void stop_watching(Observer& observer) noexcept;

}  // namespace tidemark::memory
