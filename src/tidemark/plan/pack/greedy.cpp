#include "tidemark/plan/pack/greedy.h"

#include <algorithm>
#include <limits>

namespace tidemark::plan {

namespace {

/// The placed ranges by offset, searched for gaps from the bottom up.
class Placed {
 public:
  Placed(std::span<const LiveRange> ranges, size_t expected) : ranges_(ranges) {
    entries_.reserve(expected);
  }

  void add(int index, int64_t offset) {
    const LiveRange& b = ranges_[index];
    const Entry entry{offset, offset + b.size, b.lower, b.upper};
    const auto at = std::upper_bound(entries_.begin(), entries_.end(), entry,
                                     [](auto& a, auto& b) { return a.begin < b.begin; });
    entries_.insert(at, entry);
  }

  int64_t find(int index, Fit fit, int64_t& work) const {
    const LiveRange& b = ranges_[index];
    int64_t free_from = 0;  // everything this range meets below here has been passed
    int64_t chosen = -1;
    int64_t chosen_gap = std::numeric_limits<int64_t>::max();
    for (const Entry& entry : entries_) {
      --work;
      if (b.lower >= entry.upper || entry.lower >= b.upper) continue;
      const int64_t offset = round_up(free_from, b.alignment);
      const int64_t gap = entry.begin - offset;
      if (gap >= b.size && gap < chosen_gap) {
        chosen = offset;
        chosen_gap = gap;
        if (fit == Fit::first || gap == b.size) return chosen;
      }
      free_from = std::max(free_from, entry.end);
    }
    return chosen >= 0 ? chosen : round_up(free_from, b.alignment);
  }

 private:
  struct Entry {
    int64_t begin;
    int64_t end;
    int64_t lower;
    int64_t upper;
  };
  std::span<const LiveRange> ranges_;
  std::vector<Entry> entries_;
};

/// Heights over positions: the highest of a range, and setting a range to one height.
class Skyline {
 public:
  explicit Skyline(size_t positions) {
    while (leaves_ < positions) leaves_ *= 2;
    highest_.assign(2 * leaves_, 0);
    assigned_.assign(2 * leaves_, kNone);
  }
  int64_t highest(size_t begin, size_t end) { return highest(1, 0, leaves_, begin, end); }
  void assign(size_t begin, size_t end, int64_t height) {
    assign(1, 0, leaves_, begin, end, height);
  }

 private:
  static constexpr int64_t kNone = -1;

  void push_down(size_t node) {
    if (assigned_[node] == kNone) return;
    for (const size_t child : {2 * node, 2 * node + 1}) {
      highest_[child] = assigned_[child] = assigned_[node];
    }
    assigned_[node] = kNone;
  }
  int64_t highest(size_t node, size_t from, size_t to, size_t begin, size_t end) {
    if (end <= from || to <= begin) return 0;
    if (begin <= from && to <= end) return highest_[node];
    push_down(node);
    const size_t middle = (from + to) / 2;
    return std::max(highest(2 * node, from, middle, begin, end),
                    highest(2 * node + 1, middle, to, begin, end));
  }
  void assign(size_t node, size_t from, size_t to, size_t begin, size_t end, int64_t height) {
    if (end <= from || to <= begin) return;
    if (begin <= from && to <= end) {
      highest_[node] = assigned_[node] = height;
      return;
    }
    push_down(node);
    const size_t middle = (from + to) / 2;
    assign(2 * node, from, middle, begin, end, height);
    assign(2 * node + 1, middle, to, begin, end, height);
    highest_[node] = std::max(highest_[2 * node], highest_[2 * node + 1]);
  }

  size_t leaves_ = 1;
  std::vector<int64_t> highest_;
  std::vector<int64_t> assigned_;
};

}  // namespace

std::optional<Offsets> place_in_order(std::span<const LiveRange> ranges, std::span<const int> order,
                                      Fit fit, int64_t& work) {
  const auto count = static_cast<int64_t>(ranges.size());
  if (count * count / 8 > work) return std::nullopt;  // a look at the lower quarter, on average
  Offsets offsets(ranges.size(), 0);
  Placed placed(ranges, ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (!ranges[i].is_fixed()) continue;
    offsets[i] = ranges[i].fixed;
    if (ranges[i].size > 0) placed.add(static_cast<int>(i), offsets[i]);
  }
  for (const int i : order) {
    if (ranges[i].is_fixed() || ranges[i].size == 0) continue;
    if (work <= 0) return std::nullopt;
    offsets[i] = placed.find(i, fit, work);
    placed.add(i, offsets[i]);
  }
  return offsets;
}

Offsets stack_in_order(std::span<const LiveRange> ranges, std::span<const int> order) {
  std::vector<int64_t> times;
  times.reserve(2 * ranges.size());
  for (const LiveRange& b : ranges) {
    times.push_back(b.lower);
    times.push_back(b.upper);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  const auto position = [&](int64_t time) {
    return static_cast<size_t>(std::lower_bound(times.begin(), times.end(), time) - times.begin());
  };
  Skyline skyline(times.size());
  Offsets offsets(ranges.size(), 0);
  for (const int i : order) {
    const LiveRange& b = ranges[i];
    if (b.size == 0) continue;
    const size_t begin = position(b.lower);
    const size_t end = position(b.upper);
    offsets[i] = round_up(skyline.highest(begin, end), b.alignment);
    skyline.assign(begin, end, offsets[i] + b.size);
  }
  return offsets;
}

}  // namespace tidemark::plan
