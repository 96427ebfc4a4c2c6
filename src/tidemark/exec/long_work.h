// Work that runs longer than a few microseconds, for those whose locks are held meanwhile.
#pragma once

#include <cstdint>

#include "tidemark/base/attached.h"

namespace tidemark::exec {

/// Bytes touched above which a kernel counts as long work.
inline constexpr int64_t kLongWorkBytes = 64 << 10;
inline constexpr int64_t kLongHeavyBytes = 4 << 10;

/// `LongWork scope(is_long);`: the front end's lock is given away for its time.
using LongWork = LockGivenAway;

}  // namespace tidemark::exec
