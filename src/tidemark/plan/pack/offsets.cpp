#include "tidemark/plan/pack/offsets.h"

#include <algorithm>

#include "tidemark/plan/pack/improve.h"

namespace tidemark::plan {

namespace {

/// Looks at placed ranges that all greedy orders together may take: some tenths of a second.
constexpr int64_t kGreedyWork = 200'000'000;

/// With more ranges the careful orders would never be used up.
constexpr size_t kCarefulLimit = 40'000;

struct Component {
  std::vector<int> indices;
  std::vector<LiveRange> ranges;
  bool has_fixed = false;
  Incumbent best;
};

void take_if_better(Component& component, Offsets offsets) {
  const int64_t peak = peak_of(component.ranges, offsets);
  if (!component.best.offsets.empty() && peak >= component.best.peak) return;
  component.best.offsets = std::move(offsets);
  component.best.peak = peak;
}

/// The near-linear packings first, so that there always is one; then the careful ones.
void pack_greedily(Component& component, int64_t enough, int64_t& work) {
  const std::span<const LiveRange> ranges = component.ranges;
  for (const bool backward : {false, true}) {
    take_if_better(component, allocate_in_time(ranges, backward));
  }
  if (component.best.peak <= enough) return;
  const bool few = ranges.size() <= kCarefulLimit;
  const std::vector<std::vector<int>> orders = greedy_orders(ranges, few ? 6 : 1);
  if (!component.has_fixed) take_if_better(component, stack_in_order(ranges, orders.front()));
  for (const Fit fit : {Fit::first, Fit::best}) {
    for (const std::vector<int>& order : orders) {
      if (component.best.peak <= enough) return;
      if (auto offsets = place_in_order(ranges, order, fit, work)) {
        take_if_better(component, std::move(*offsets));
      }
    }
  }
}

/// The given part of what is left.
Effort share(const Effort& effort, int64_t parts) {
  const Deadline now = SearchClock::now();
  return {now + (std::max(effort.deadline, now) - now) / parts, effort.nodes / parts};
}

/// Returns the nodes used.
int64_t improve(Component& component, int64_t enough, Effort own) {
  const int64_t nodes = own.nodes;
  const bool searchable = !component.has_fixed && component.ranges.size() <= kSearchLimit;
  // Each decision of the search looks at all open ranges, so where there are many it needs long
  // to come to a first packing; reordering has better ones at once.
  if (!searchable || component.ranges.size() > 512) {
    Effort part = share(own, searchable ? 2 : 1);
    own.nodes -= part.nodes;
    improve_by_reordering(component.ranges, enough, component.best, part);
    own.nodes += part.nodes;
  }
  if (searchable) improve_by_search(component.ranges, enough, component.best, own);
  return nodes - own.nodes;
}

/// The small ones first: what they leave of the effort goes to the large. Returns the nodes used.
int64_t improve_all(std::vector<Component>& components, int64_t enough, Effort effort) {
  const int64_t nodes = effort.nodes;
  const auto is_high = [&](const Component& c) { return c.best.peak > enough; };
  std::stable_sort(components.begin(), components.end(),
                   [](const auto& a, const auto& b) { return a.ranges.size() < b.ranges.size(); });
  int64_t left = std::count_if(components.begin(), components.end(), is_high);
  for (Component& component : components) {
    if (!is_high(component)) continue;
    effort.nodes -= improve(component, enough, share(effort, left--));
  }
  return nodes - effort.nodes;
}

std::vector<Component> make_components(std::span<const LiveRange> ranges) {
  std::vector<int> sized;
  std::vector<LiveRange> sized_ranges;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].size == 0) continue;
    sized.push_back(static_cast<int>(i));
    sized_ranges.push_back(ranges[i]);
  }
  std::vector<Component> components;
  for (const std::vector<int>& group : time_components(sized_ranges)) {
    Component& component = components.emplace_back();
    for (const int i : group) {
      component.indices.push_back(sized[i]);
      component.ranges.push_back(sized_ranges[i]);
      component.has_fixed |= sized_ranges[i].is_fixed();
    }
    component.best.proven_bound = load_lower_bound(component.ranges);
  }
  return components;
}

}  // namespace

Packing pack(std::span<const LiveRange> ranges, const PackOptions& options) {
  validate(ranges);
  std::vector<Component> components = make_components(ranges);
  Packing packing;
  for (const Component& component : components) {
    packing.lower_bound = std::max(packing.lower_bound, component.best.proven_bound);
  }
  // A component needs to be no lower than the highest bound of any.
  const int64_t enough = std::max(packing.lower_bound, options.enough);
  int64_t work = kGreedyWork;
  for (Component& component : components) pack_greedily(component, enough, work);
  packing.nodes = improve_all(components, enough, {deadline_in(options.seconds), options.node_cap});
  packing.proven_bound = packing.lower_bound;
  packing.offsets.resize(ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    packing.offsets[i] = ranges[i].is_fixed() ? ranges[i].fixed : 0;
  }
  for (const Component& component : components) {
    packing.peak = std::max(packing.peak, component.best.peak);
    packing.proven_bound = std::max(packing.proven_bound, component.best.proven_bound);
    for (size_t i = 0; i < component.indices.size(); ++i) {
      packing.offsets[component.indices[i]] = component.best.offsets[i];
    }
  }
  return packing;
}

}  // namespace tidemark::plan
