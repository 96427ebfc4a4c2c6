#include "tidemark/plan/pack/live_range.h"

#include <tidemark/error.h>

#include <algorithm>
#include <limits>
#include <map>

namespace tidemark::plan {

namespace {

/// Twice this still fits into an int64_t, so sums of two offsets need no further care.
constexpr int64_t kLargestTotal = std::numeric_limits<int64_t>::max() / 4;

void validate_one(const LiveRange& b, size_t index) {
  if (b.size < 0) {
    fail("buffer ", index, " has the size ", b.size, "; a size is at least 0");
  }
  if (b.lower >= b.upper) {
    fail("buffer ", index, " is alive in [", b.lower, ", ", b.upper,
         "), which is empty; lower must be less than upper");
  }
  if (b.alignment < 1 || b.alignment > kLargestTotal) {
    fail("buffer ", index, " has the alignment ", b.alignment, "; it must be from 1 to ",
         kLargestTotal);
  }
  if (!b.is_fixed()) return;
  if (b.fixed < 0 || b.fixed % b.alignment != 0) {
    fail("buffer ", index, " is fixed at the offset ", b.fixed, "; it must be a multiple of its ",
         "alignment, ", b.alignment);
  }
}

/// Sweeps over time, keeping the live fixed ranges by offset: neighbours may touch, not overlap.
void validate_fixed(std::span<const LiveRange> ranges) {
  struct Event {
    int64_t time;
    bool starts;
    size_t index;
  };
  std::vector<Event> events;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (!ranges[i].is_fixed() || ranges[i].size == 0) continue;
    events.push_back({ranges[i].lower, true, i});
    events.push_back({ranges[i].upper, false, i});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    if (a.time != b.time) return a.time < b.time;
    return a.starts != b.starts ? !a.starts : a.index < b.index;
  });
  const auto refuse = [&](size_t a, size_t b) {
    fail("buffers ", a, " and ", b, " are fixed at ", ranges[a].fixed, " and ", ranges[b].fixed,
         " and alive at the same time, but overlap; fix one of them elsewhere");
  };
  std::map<int64_t, size_t> live;
  for (const Event& event : events) {
    const LiveRange& b = ranges[event.index];
    if (!event.starts) {
      live.erase(b.fixed);
      continue;
    }
    const auto above = live.lower_bound(b.fixed);
    if (above != live.end() && above->first - b.fixed < b.size) refuse(above->second, event.index);
    if (above != live.begin()) {
      const size_t below = std::prev(above)->second;
      if (b.fixed - ranges[below].fixed < ranges[below].size) refuse(below, event.index);
    }
    live.emplace(b.fixed, event.index);
  }
}

}  // namespace

void validate(std::span<const LiveRange> ranges) {
  int64_t total = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const LiveRange& b = ranges[i];
    validate_one(b, i);
    for (const int64_t bytes : {b.size, b.alignment, b.is_fixed() ? b.fixed : 0}) {
      if (bytes > kLargestTotal - total) {
        fail("the sizes of the buffers up to number ", i, " add up to more than ", kLargestTotal,
             " bytes, the most that can be planned");
      }
      total += bytes;
    }
  }
  validate_fixed(ranges);
}

int64_t load_lower_bound(std::span<const LiveRange> ranges) {
  if (ranges.empty()) return 0;
  const int64_t unit = ranges.front().alignment;
  const bool one_alignment = std::all_of(ranges.begin(), ranges.end(),
                                         [&](const LiveRange& b) { return b.alignment == unit; });
  struct Event {
    int64_t time;
    int64_t bytes;  // negative where a range ends: ends sort before starts of the same time
    int64_t padding;
  };
  std::vector<Event> events;
  events.reserve(2 * ranges.size());
  int64_t bound = 0;
  for (const LiveRange& b : ranges) {
    if (b.size == 0) continue;
    const int64_t bytes = one_alignment ? round_up(b.size, unit) : b.size;
    events.push_back({b.lower, bytes, bytes - b.size});
    events.push_back({b.upper, -bytes, bytes - b.size});
    if (b.is_fixed()) bound = std::max(bound, b.fixed + b.size);
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.bytes < b.bytes;
  });
  // The topmost range of each moment needs no padding above it; which one that is, is open.
  std::map<int64_t, int64_t> paddings;
  int64_t load = 0;
  for (const Event& event : events) {
    load += event.bytes;
    if (event.bytes > 0) {
      if (unit > 1) ++paddings[event.padding];
      bound = std::max(bound, load - (paddings.empty() ? 0 : paddings.rbegin()->first));
    } else if (unit > 1 && --paddings[event.padding] == 0) {
      paddings.erase(event.padding);
    }
  }
  return bound;
}

int64_t peak_of(std::span<const LiveRange> ranges, std::span<const int64_t> offsets) {
  int64_t peak = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].size > 0) peak = std::max(peak, offsets[i] + ranges[i].size);
  }
  return peak;
}

}  // namespace tidemark::plan
