// Proves that a placed problem computes what it should: every op finds its inputs as they were
// written. Shares no code with the planner.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tidemark/plan/order/problem.h"

namespace tidemark::plan {

/// Where a problem's bytes lie. External values need no offset.
struct Placement {
  std::vector<int64_t> value_offsets;
  std::vector<int64_t> workspace_offsets;
};

/// The first fault found when the ops run in this order: an input or a kept value that something
/// has been written over, an output on top of an input without leave, a workspace on top of either.
std::optional<std::string> find_stale_read(const Problem& problem, std::span<const int> order,
                                           const Placement& placement);

}  // namespace tidemark::plan
