// Packings made in one go. Each is fast and none is sure to be good: the caller takes the best.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tidemark/plan/pack/live_range.h"

namespace tidemark::plan {

using Offsets = std::vector<int64_t>;

enum class Fit { first, best };

/// Places fixed ranges, then the others in the given order, each into the lowest gap that is free
/// for all its time (first) or the tightest one (best). Looks at every placed range below the gap,
/// so the work grows with the square; it gives up after `work` such looks, or before if they will
/// hardly suffice. Subtracts what it used.
std::optional<Offsets> place_in_order(std::span<const LiveRange> ranges, std::span<const int> order,
                                      Fit fit, int64_t& work);

/// Puts each range on top of everything placed before that it meets. Near-linear.
/// No range may be fixed.
Offsets stack_in_order(std::span<const LiveRange> ranges, std::span<const int> order);

/// What an allocator would do that sees ranges come and go in time (or, `backward`, in reverse):
/// the tightest free block, else the top. Near-linear. Everything lies above the fixed ranges.
Offsets allocate_in_time(std::span<const LiveRange> ranges, bool backward);

/// Orders that tend to pack well: by length, by size, by how crowded the time is (twice), by area,
/// by time. The first `count` of them.
std::vector<std::vector<int>> greedy_orders(std::span<const LiveRange> ranges, size_t count = 6);

}  // namespace tidemark::plan
