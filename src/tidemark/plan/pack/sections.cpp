#include "tidemark/plan/pack/sections.h"

#include <algorithm>
#include <numeric>

namespace tidemark::plan {

namespace {

struct Event {
  int64_t time;
  bool starts;
  int index;
};

/// Ends come before starts of the same time.
std::vector<Event> sorted_events(std::span<const LiveRange> ranges) {
  std::vector<Event> events;
  events.reserve(2 * ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    events.push_back({ranges[i].lower, true, static_cast<int>(i)});
    events.push_back({ranges[i].upper, false, static_cast<int>(i)});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    if (a.time != b.time) return a.time < b.time;
    return a.starts != b.starts ? !a.starts : a.index < b.index;
  });
  return events;
}

}  // namespace

Sections make_sections(std::span<const LiveRange> ranges) {
  Sections sections;
  sections.first.resize(ranges.size());
  sections.last.resize(ranges.size());
  // A section closes at the first end after a start: until then the live set only grew.
  bool grown = false;
  for (const Event& event : sorted_events(ranges)) {
    if (event.starts) {
      sections.first[event.index] = sections.count;
      grown = true;
    } else {
      if (grown) ++sections.count;
      grown = false;
      sections.last[event.index] = sections.count;
    }
  }
  return sections;
}

std::vector<std::vector<int>> time_components(std::span<const LiveRange> ranges) {
  std::vector<int> by_start(ranges.size());
  std::iota(by_start.begin(), by_start.end(), 0);
  std::stable_sort(by_start.begin(), by_start.end(),
                   [&](int a, int b) { return ranges[a].lower < ranges[b].lower; });
  std::vector<std::vector<int>> components;
  int64_t end = 0;
  for (const int i : by_start) {
    if (components.empty() || ranges[i].lower >= end) {
      components.emplace_back();
      end = ranges[i].upper;
    }
    components.back().push_back(i);
    end = std::max(end, ranges[i].upper);
  }
  return components;
}

}  // namespace tidemark::plan
