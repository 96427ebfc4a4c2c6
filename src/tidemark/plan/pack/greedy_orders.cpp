#include <algorithm>
#include <numeric>

#include "tidemark/plan/pack/free_list.h"
#include "tidemark/plan/pack/greedy.h"

namespace tidemark::plan {

namespace {

/// As a floating-point number, for the ends may be as far apart as integers go.
double length(const LiveRange& b) {
  return static_cast<double>(b.upper) - static_cast<double>(b.lower);
}

/// The most bytes alive at once during each range's life.
std::vector<double> crowding(std::span<const LiveRange> ranges) {
  std::vector<std::pair<int64_t, int64_t>> changes;
  for (const LiveRange& b : ranges) {
    changes.emplace_back(b.lower, b.size);
    changes.emplace_back(b.upper, -b.size);
  }
  std::sort(changes.begin(), changes.end());
  std::vector<int64_t> times;
  std::vector<std::vector<int64_t>> most(1);  // most[k][i]: over 2^k times from the i-th on
  int64_t load = 0;
  for (const auto& [time, bytes] : changes) {
    load += bytes;
    if (!times.empty() && times.back() == time) {
      most[0].back() = load;
    } else {
      times.push_back(time);
      most[0].push_back(load);
    }
  }
  for (size_t width = 2; width <= times.size(); width *= 2) {
    const std::vector<int64_t>& half = most.back();
    std::vector<int64_t> whole(times.size() - width + 1);
    for (size_t i = 0; i < whole.size(); ++i) whole[i] = std::max(half[i], half[i + width / 2]);
    most.push_back(std::move(whole));
  }
  const auto position = [&](int64_t time) {
    return static_cast<size_t>(std::lower_bound(times.begin(), times.end(), time) - times.begin());
  };
  std::vector<double> out;
  for (const LiveRange& b : ranges) {
    const size_t begin = position(b.lower);
    const size_t end = position(b.upper);
    size_t level = 0;
    while ((size_t{2} << level) <= end - begin) ++level;
    const int64_t highest = std::max(most[level][begin], most[level][end - (size_t{1} << level)]);
    out.push_back(static_cast<double>(highest));
  }
  return out;
}

}  // namespace

std::vector<std::vector<int>> greedy_orders(std::span<const LiveRange> ranges, size_t count) {
  using Key = std::pair<double, double>;
  std::vector<double> crowded;
  if (count > 2) crowded = crowding(ranges);
  const auto key_of = [&](size_t order, size_t i) -> Key {
    const auto size = static_cast<double>(ranges[i].size);
    const double span = length(ranges[i]);
    switch (order) {
      case 0:
        return {span, size};
      case 1:
        return {size, span};
      case 2:
        return {crowded[i], size * span};
      case 3:
        return {crowded[i], span};
      case 4:
        return {size * span, span};
      default:
        return {-static_cast<double>(ranges[i].lower), size};
    }
  };
  std::vector<std::vector<int>> orders;
  for (size_t number = 0; number < std::min<size_t>(count, 6); ++number) {
    std::vector<Key> keys;
    for (size_t i = 0; i < ranges.size(); ++i) keys.push_back(key_of(number, i));
    std::vector<int>& order = orders.emplace_back(ranges.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] > keys[b]; });
  }
  return orders;
}

Offsets allocate_in_time(std::span<const LiveRange> ranges, bool backward) {
  struct Event {
    int64_t time;
    bool starts;
    int index;
  };
  std::vector<Event> events;
  events.reserve(2 * ranges.size());
  Offsets offsets(ranges.size(), 0);
  int64_t bottom = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].is_fixed()) {
      offsets[i] = ranges[i].fixed;
      bottom = std::max(bottom, ranges[i].fixed + ranges[i].size);
    }
    if (ranges[i].is_fixed() || ranges[i].size == 0) continue;
    events.push_back({ranges[i].lower, !backward, static_cast<int>(i)});
    events.push_back({ranges[i].upper, backward, static_cast<int>(i)});
  }
  std::sort(events.begin(), events.end(), [&](const Event& a, const Event& b) {
    if (a.time != b.time) return backward ? a.time > b.time : a.time < b.time;
    if (a.starts != b.starts) return !a.starts;
    const int64_t sizes[] = {ranges[a.index].size, ranges[b.index].size};
    return sizes[0] != sizes[1] ? sizes[0] > sizes[1] : a.index < b.index;
  });
  FreeList free(bottom);
  for (const Event& event : events) {
    const LiveRange& b = ranges[event.index];
    if (event.starts) {
      offsets[event.index] = free.take(b.size, b.alignment);
    } else {
      free.give_back(offsets[event.index], b.size);
    }
  }
  return offsets;
}

}  // namespace tidemark::plan
