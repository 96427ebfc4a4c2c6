// Time, cut into the few sections that matter for who meets whom.
#pragma once

#include <vector>

#include "tidemark/plan/pack/buffer.h"

namespace tidemark::plan {

/// Buffer i is alive in the sections [first[i], last[i]). A section stands for a moment at which as
/// many buffers meet as at no moment around it, so two buffers meet if and only if they share one.
struct Sections {
  int count = 0;
  std::vector<int> first;
  std::vector<int> last;
};

Sections make_sections(std::span<const Buffer> buffers);

/// Indices of buffers in groups that never meet each other, in order of time.
std::vector<std::vector<int>> time_components(std::span<const Buffer> buffers);

}  // namespace tidemark::plan
