// Memory that waits for its next use and goes before an allocation is refused.
#pragma once

#include <tidemark/export.h>

namespace tidemark::memory {

/// Called, without any lock held, when an allocation would be refused; true: something was given
/// back, and the allocation is tried once more.
TIDEMARK_API void set_idle_reclaimer(bool (*reclaim)()) noexcept;

}  // namespace tidemark::memory
