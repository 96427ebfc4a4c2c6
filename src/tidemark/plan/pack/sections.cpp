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
std::vector<Event> sorted_events(std::span<const Buffer> buffers) {
  std::vector<Event> events;
  events.reserve(2 * buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    events.push_back({buffers[i].lower, true, static_cast<int>(i)});
    events.push_back({buffers[i].upper, false, static_cast<int>(i)});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    if (a.time != b.time) return a.time < b.time;
    return a.starts != b.starts ? !a.starts : a.index < b.index;
  });
  return events;
}

}  // namespace

Sections make_sections(std::span<const Buffer> buffers) {
  Sections sections;
  sections.first.resize(buffers.size());
  sections.last.resize(buffers.size());
  // A section closes at the first end after a start: until then the live set only grew.
  bool grown = false;
  for (const Event& event : sorted_events(buffers)) {
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

std::vector<std::vector<int>> time_components(std::span<const Buffer> buffers) {
  std::vector<int> by_start(buffers.size());
  std::iota(by_start.begin(), by_start.end(), 0);
  std::stable_sort(by_start.begin(), by_start.end(),
                   [&](int a, int b) { return buffers[a].lower < buffers[b].lower; });
  std::vector<std::vector<int>> components;
  int64_t end = 0;
  for (const int i : by_start) {
    if (components.empty() || buffers[i].lower >= end) {
      components.emplace_back();
      end = buffers[i].upper;
    }
    components.back().push_back(i);
    end = std::max(end, buffers[i].upper);
  }
  return components;
}

}  // namespace tidemark::plan
