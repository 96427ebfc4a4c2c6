#include "tidemark/plan/pack/check.h"

#include <tidemark/error.h>

#include <algorithm>
#include <map>

namespace tidemark::plan {

namespace {

/// What is wrong with one range, whatever the others do.
std::optional<std::string> own_fault(const LiveRange& b, int64_t offset, int64_t peak, size_t i) {
  if (b.size < 0 || b.lower >= b.upper || b.alignment < 1) {
    return message("buffer ", i, " is none: size ", b.size, ", alive in [", b.lower, ", ", b.upper,
                   "), alignment ", b.alignment);
  }
  if (offset < 0) return message("buffer ", i, " lies at ", offset);
  if (offset % b.alignment != 0) {
    return message("buffer ", i, " lies at ", offset, ", no multiple of ", b.alignment);
  }
  if (b.fixed != kAnywhere && b.fixed != offset) {
    return message("buffer ", i, " lies at ", offset, " and not at ", b.fixed,
                   ", where it is fixed");
  }
  if (b.size > 0 && offset > peak - b.size) {
    return message("buffer ", i, " ends at ", offset, " + ", b.size, ", above the peak of ", peak);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_fault(std::span<const LiveRange> ranges,
                                      std::span<const int64_t> offsets, int64_t peak) {
  if (ranges.size() != offsets.size()) {
    return message(ranges.size(), " buffers have ", offsets.size(), " offsets");
  }
  std::vector<size_t> starts;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (auto fault = own_fault(ranges[i], offsets[i], peak, i)) return fault;
    if (ranges[i].size > 0) starts.push_back(i);
  }
  std::vector<size_t> ends = starts;
  std::sort(starts.begin(), starts.end(),
            [&](size_t a, size_t b) { return ranges[a].lower < ranges[b].lower; });
  std::sort(ends.begin(), ends.end(),
            [&](size_t a, size_t b) { return ranges[a].upper < ranges[b].upper; });
  // The live ranges by offset. As long as there is no fault they are apart, so a new one needs to
  // be compared with its two neighbours alone.
  std::map<int64_t, size_t> live;
  const auto clash = [&](size_t a, size_t b) {
    return message("buffers ", a, " and ", b, " are alive at the time ", ranges[b].lower,
                   " and share bytes: ", offsets[a], " + ", ranges[a].size, " and ", offsets[b],
                   " + ", ranges[b].size);
  };
  size_t ended = 0;
  for (const size_t i : starts) {
    while (ranges[ends[ended]].upper <= ranges[i].lower) live.erase(offsets[ends[ended++]]);
    const auto [at, is_new] = live.emplace(offsets[i], i);
    if (!is_new) return clash(at->second, i);
    if (const auto above = std::next(at); above != live.end()) {
      if (above->first < offsets[i] + ranges[i].size) return clash(above->second, i);
    }
    if (at == live.begin()) continue;
    const size_t below = std::prev(at)->second;
    if (offsets[below] + ranges[below].size > offsets[i]) return clash(below, i);
  }
  return std::nullopt;
}

}  // namespace tidemark::plan
