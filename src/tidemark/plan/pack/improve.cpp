#include "tidemark/plan/pack/improve.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace tidemark::plan {

namespace {

using Rule = SectionSearch::Rule;
using Outcome = SectionSearch::Outcome;

/// Numbers that are the same on every machine (splitmix64).
class Random {
 public:
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// In [from, to).
  double between(double from, double to) {
    return from + (to - from) * static_cast<double>(next() >> 11) * 0x1p-53;
  }

 private:
  uint64_t state_ = 1;
};

std::vector<int> rank_of(std::span<const int> order) {
  std::vector<int> rank(order.size());
  for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<int>(i);
  return rank;
}

std::vector<int> rank_by(std::span<const double> keys) {
  std::vector<int> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] > keys[b]; });
  return rank_of(order);
}

/// The step all offsets can be taken in: sizes in it are whole numbers, padding included.
/// Nothing where the alignments do not divide each other.
std::optional<int64_t> common_unit(std::span<const LiveRange> ranges) {
  int64_t alignment = 1;
  for (const LiveRange& b : ranges) alignment = std::max(alignment, b.alignment);
  int64_t unit = 0;
  for (const LiveRange& b : ranges) {
    if (alignment % b.alignment != 0) return std::nullopt;
    unit = std::gcd(unit, round_up(b.size, alignment));
  }
  return unit;
}

/// Runs the search with many orders, rules and targets between the bound and the best peak.
class Portfolio {
 public:
  Portfolio(std::span<const LiveRange> ranges, int64_t unit, Incumbent& best, Effort& effort)
      : ranges_(ranges),
        unit_(unit),
        best_(best),
        effort_(effort),
        search_(make_sections(ranges), sizes(ranges, unit)),
        attempt_nodes_(std::max<int64_t>(1000, 3 * static_cast<int64_t>(ranges.size()))) {
    for (const std::vector<int>& order : greedy_orders(ranges)) ranks_.push_back(rank_of(order));
    uniform_ = std::all_of(ranges.begin(), ranges.end(), [&](const LiveRange& b) {
      return b.alignment == ranges.front().alignment;
    });
    lowest_ = (best.proven_bound + unit - 1) / unit;
    // Padding to the largest alignment may need more than the bytes alone.
    lowest_ = std::max(lowest_, search_.largest_load());
  }

  /// In rounds of growing effort, so that an easy improvement does not wait for a hopeless target.
  void run(int64_t enough) {
    lowest_ = std::max(lowest_, (enough + unit_ - 1) / unit_);
    while (highest() >= lowest_ && !effort_.spent()) {
      if (attempt(lowest_)) return;
      // An eighth of the gap at a time where half of it is too much to ask.
      for (const int64_t parts : {2, 8}) {
        while (highest() > lowest_ && !effort_.spent()) {
          if (!attempt(highest() - (highest() - lowest_) / parts)) break;
        }
      }
      if (ranks_tried_ < ranks_.size() + 2) {
        ranks_tried_ = std::min(2 * ranks_tried_, ranks_.size() + 2);
      } else {
        attempt_nodes_ += attempt_nodes_ / 2;
      }
    }
  }

 private:
  static std::vector<int64_t> sizes(std::span<const LiveRange> ranges, int64_t unit) {
    std::vector<int64_t> out;
    for (const LiveRange& b : ranges) out.push_back((b.size + unit - 1) / unit);
    return out;
  }

  /// The largest capacity that would be an improvement.
  int64_t highest() const { return (best_.peak - 1) / unit_; }

  /// True when a packing within the capacity was found.
  bool attempt(int64_t capacity) {
    for (size_t i = 0; i < ranks_tried_; ++i) {
      const std::vector<int> rank = rank_number(i);
      for (const Rule rule : {Rule::weighted, Rule::tightest, Rule::fewest}) {
        const int64_t before = search_.nodes();
        const Outcome outcome = search_.run(
            capacity, rank, rule, std::min(attempt_nodes_, effort_.nodes), effort_.deadline);
        effort_.nodes -= search_.nodes() - before;
        if (outcome == Outcome::found) {
          take(search_.offsets());
          return true;
        }
        if (outcome == Outcome::impossible) {
          exclude(capacity);
          return false;
        }
        if (effort_.spent()) return false;
      }
    }
    return false;
  }

  std::vector<int> rank_number(size_t i) {
    if (i < ranks_.size()) return ranks_[i];
    const Sections& sections = search_.sections();
    const bool by_failures = i == ranks_.size();
    const double power = random_.between(0.2, 2.2);
    std::vector<double> keys;
    for (size_t b = 0; b < ranges_.size(); ++b) {
      double key = 0;
      if (by_failures) {
        for (int s = sections.first[b]; s < sections.last[b]; ++s) {
          key += search_.failure_weights()[s];
        }
        key *= random_.between(0.7, 1.3);
      } else {
        key = std::pow(sections.last[b] - sections.first[b], power) *
              static_cast<double>(ranges_[b].size) * random_.between(0.5, 1.5);
      }
      keys.push_back(key);
    }
    return rank_by(keys);
  }

  void take(const std::vector<int64_t>& offsets) {
    Offsets bytes;
    for (const int64_t offset : offsets) bytes.push_back(offset * unit_);
    const int64_t peak = peak_of(ranges_, bytes);
    if (peak >= best_.peak) return;
    best_.offsets = std::move(bytes);
    best_.peak = peak;
  }

  void exclude(int64_t capacity) {
    lowest_ = std::max(lowest_, capacity + 1);
    if (!uniform_) return;  // padding to the largest alignment is our choice, not a need
    // Padded to the alignment a packing of p bytes ends below p + alignment.
    const int64_t bytes = lowest_ * unit_ - ranges_.front().alignment + 1;
    best_.proven_bound = std::min(best_.peak, std::max(best_.proven_bound, bytes));
  }

  std::span<const LiveRange> ranges_;
  int64_t unit_;
  Incumbent& best_;
  Effort& effort_;
  SectionSearch search_;
  int64_t attempt_nodes_;
  std::vector<std::vector<int>> ranks_;
  size_t ranks_tried_ = 2;
  bool uniform_ = true;
  int64_t lowest_ = 0;
  Random random_;
};

}  // namespace

void improve_by_search(std::span<const LiveRange> ranges, int64_t enough, Incumbent& best,
                       Effort& effort) {
  if (const std::optional<int64_t> unit = common_unit(ranges)) {
    Portfolio(ranges, *unit, best, effort).run(enough);
  }
}

void improve_by_reordering(std::span<const LiveRange> ranges, int64_t enough, Incumbent& best,
                           Effort& effort) {
  constexpr int kPatience = 200;
  constexpr int64_t kWork = 100'000'000;
  // In order of offset, first fit gives the same packing again or a better one.
  std::vector<int> order(ranges.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return best.offsets[a] < best.offsets[b]; });
  int64_t peak = best.peak;
  Offsets offsets = best.offsets;
  for (int tries = 0; tries < kPatience && best.peak > enough && !effort.spent(); ++tries) {
    for (size_t i = 0; i < order.size(); ++i) {
      if (offsets[order[i]] + ranges[order[i]].size == peak) {
        std::rotate(order.begin() + i / 2, order.begin() + i, order.begin() + i + 1);
      }
    }
    int64_t work = kWork;
    const std::optional<Offsets> placed = place_in_order(ranges, order, Fit::first, work);
    effort.nodes -= static_cast<int64_t>(ranges.size());
    if (!placed) return;
    offsets = *placed;
    peak = peak_of(ranges, offsets);
    if (peak >= best.peak) continue;
    best.offsets = offsets;
    best.peak = peak;
    tries = 0;
  }
}

}  // namespace tidemark::plan
