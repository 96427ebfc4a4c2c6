// What the planner packs: plain numbers, no tensors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tidemark::plan {

/// Lets the planner choose the offset.
inline constexpr int64_t kAnywhere = -1;

/// Bytes that are alive in [lower, upper) and must lie at a multiple of `alignment`.
struct LiveRange {
  int64_t lower = 0;
  int64_t upper = 0;
  int64_t size = 0;
  int64_t alignment = 1;
  int64_t fixed = kAnywhere;  ///< an offset the planner may not change

  bool is_fixed() const { return fixed != kAnywhere; }
  bool meets(const LiveRange& other) const { return lower < other.upper && other.lower < upper; }
};

inline int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

/// Throws InvalidArgumentError for a negative size, an empty range, a bad alignment or offset,
/// fixed ranges in each other's way, or sizes whose sum no offset could hold.
void validate(std::span<const LiveRange> ranges);

/// The bytes that no packing can do without: the most that is alive at one time. Where all ranges
/// have one alignment, the padding between them counts, too.
int64_t load_lower_bound(std::span<const LiveRange> ranges);

/// The highest end of any range.
int64_t peak_of(std::span<const LiveRange> ranges, std::span<const int64_t> offsets);

}  // namespace tidemark::plan
