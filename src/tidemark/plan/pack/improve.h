// Makes a packing of one component in time better until it is good enough or the effort is spent.
#pragma once

#include "tidemark/plan/pack/greedy.h"
#include "tidemark/plan/pack/section_search.h"

namespace tidemark::plan {

/// What may still be spent, by all components together.
struct Effort {
  Deadline deadline;
  int64_t nodes;
  bool spent() const { return nodes <= 0 || SearchClock::now() >= deadline; }
};

struct Incumbent {
  Offsets offsets;
  int64_t peak = 0;
  int64_t proven_bound = 0;
};

/// By branch and bound, for components of up to kSearchLimit ranges, none of them fixed. Stops at
/// the peak `enough`.
void improve_by_search(std::span<const LiveRange> ranges, int64_t enough, Incumbent& best,
                       Effort& effort);

/// By first fit again and again, each time the ranges at the peak come earlier.
void improve_by_reordering(std::span<const LiveRange> ranges, int64_t enough, Incumbent& best,
                           Effort& effort);

/// The search keeps a frame of the stack a placed range, and lists of who meets whom.
inline constexpr size_t kSearchLimit = 4096;

}  // namespace tidemark::plan
