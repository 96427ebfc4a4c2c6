// What follows from the decisions so far, for the open ranges of one part.
#include <algorithm>
#include <limits>

#include "tidemark/plan/pack/section_search.h"

namespace tidemark::plan {

namespace {
constexpr int64_t kInfinite = std::numeric_limits<int64_t>::max() / 2;
}

bool SectionSearch::fail_at(int section) {
  weight_[section] += 1;
  return false;
}

/// Raises lower bounds until nothing follows any more. False: no packing is left.
bool SectionSearch::propagate(size_t begin, size_t end, int from, int to) {
  bool changed = true;
  while (changed) {
    changed = false;
    if (!order_twins(begin, end, changed) || !raise_floors(begin, end, from, to) ||
        !demand_support(begin, end, changed) ||
        !put_contenders_first(begin, end, from, to, changed)) {
      return false;
    }
  }
  return true;
}

/// Of interchangeable ranges the earlier one lies lower.
bool SectionSearch::order_twins(size_t begin, size_t end, bool& changed) {
  for (size_t i = begin; i < end; ++i) {
    const int b = open_[i];
    if (!waits_for_twin(b)) continue;
    const int64_t above = low_[twin_[b]] + size_[b];
    if (above <= low_[b]) continue;
    if (above > capacity_ - size_[b]) return fail_at(sections_.first[b]);
    set(low_[b], above);
    changed = true;
  }
  return true;
}

/// A section's floor is the lowest place any of its open ranges could have; what lies below is
/// wasted, and a section can waste no more than its slack.
bool SectionSearch::raise_floors(size_t begin, size_t end, int from, int to) {
  std::fill(scan_.begin() + from, scan_.begin() + to,
            Scan{kInfinite, kInfinite, kInfinite, -1, 0, -1});
  for (size_t i = begin; i < end; ++i) {
    const int b = open_[i];
    const int64_t low = low_[b];
    const int64_t top = low + size_[b];
    for (int s = sections_.first[b]; s < sections_.last[b]; ++s) {
      Scan& scan = scan_[s];
      scan.lowest = std::min(scan.lowest, low);
      if (top < scan.first_top) {
        scan.second_top = scan.first_top;
        scan.first_top = top;
        scan.first_top_owner = b;
      } else {
        scan.second_top = std::min(scan.second_top, top);
      }
    }
  }
  for (int s = from; s < to; ++s) {
    if (open_count_[s] == 0 || scan_[s].lowest <= floor_[s]) continue;
    const int64_t waste = scan_[s].lowest - floor_[s];
    if (waste > slack_[s]) return fail_at(s);
    set(slack_[s], slack_[s] - waste);
    set(floor_[s], scan_[s].lowest);
  }
  return true;
}

/// A range that cannot rest on what is placed must rest on the top of an open one. If all below
/// it stays empty for its whole size and time, it could as well lie there: another branch has that.
bool SectionSearch::demand_support(size_t begin, size_t end, bool& changed) {
  for (size_t i = begin; i < end; ++i) {
    const int b = open_[i];
    if (low_[b] <= support_[b]) continue;
    int64_t lowest_top = kInfinite;
    int64_t lowest_floor = kInfinite;
    for (int s = sections_.first[b]; s < sections_.last[b]; ++s) {
      const Scan& scan = scan_[s];
      lowest_top =
          std::min(lowest_top, scan.first_top_owner == b ? scan.second_top : scan.first_top);
      lowest_floor = std::min(lowest_floor, floor_[s]);
    }
    if (lowest_floor >= support_[b] + size_[b]) return fail_at(sections_.first[b]);
    if (lowest_top <= low_[b]) continue;
    if (lowest_top > capacity_ - size_[b]) return fail_at(sections_.first[b]);
    set(low_[b], lowest_top);
    changed = true;
  }
  return true;
}

/// Where a section's slack lets only one open range come next, all others lie above it.
bool SectionSearch::put_contenders_first(size_t begin, size_t end, int from, int to,
                                         bool& changed) {
  for (size_t i = begin; i < end; ++i) {
    const int b = open_[i];
    const int64_t low = low_[b];
    for (int s = sections_.first[b]; s < sections_.last[b]; ++s) {
      if (low > floor_[s] + slack_[s]) continue;
      ++scan_[s].contenders;
      scan_[s].contender = b;
    }
  }
  for (int s = from; s < to; ++s) {
    if (open_count_[s] > 0 && scan_[s].contenders == 0) return fail_at(s);
  }
  for (size_t i = begin; i < end; ++i) {
    const int b = open_[i];
    int64_t low = low_[b];
    for (int s = sections_.first[b]; s < sections_.last[b]; ++s) {
      const Scan& scan = scan_[s];
      if (scan.contenders != 1 || scan.contender == b) continue;
      low = std::max(low, low_[scan.contender] + size_[scan.contender]);
    }
    if (low == low_[b]) continue;
    if (low > capacity_ - size_[b]) return fail_at(sections_.first[b]);
    set(low_[b], low);
    changed = true;
  }
  return true;
}

}  // namespace tidemark::plan
