// Time, cut into the few sections that matter for who meets whom.
#pragma once

#include <vector>

#include "tidemark/plan/pack/live_range.h"

namespace tidemark::plan {

/// LiveRange i is alive in the sections [first[i], last[i]). A section stands for a moment at which
/// as many ranges meet as at no moment around it, so two ranges meet if and only if they share one.
struct Sections {
  int count = 0;
  std::vector<int> first;
  std::vector<int> last;
};

Sections make_sections(std::span<const LiveRange> ranges);

/// Indices of ranges in groups that never meet each other, in order of time.
std::vector<std::vector<int>> time_components(std::span<const LiveRange> ranges);

}  // namespace tidemark::plan
