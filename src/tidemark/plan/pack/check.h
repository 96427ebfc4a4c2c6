// Proves a packing right, or says what is wrong with it. Shares no code with what makes packings.
#pragma once

#include <tidemark/export.h>

#include <optional>
#include <string>

#include "tidemark/plan/pack/live_range.h"

namespace tidemark::plan {

/// The first fault found: two ranges alive at one time that share bytes, an end above the peak, an
/// offset that is negative, badly aligned or not the fixed one. Nothing: the packing is right.
TIDEMARK_API std::optional<std::string> find_fault(std::span<const LiveRange> ranges,
                                                   std::span<const int64_t> offsets, int64_t peak);

}  // namespace tidemark::plan
