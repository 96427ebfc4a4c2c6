#include "tidemark/plan/pack/offsets.h"

#include <gtest/gtest.h>
#include <tidemark/error.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>

#include "tidemark/plan/pack/check.h"
#include "tidemark/plan/pack/greedy.h"

namespace tidemark::plan {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

/// Packs and has the checker look at it.
Packing packed(const std::vector<LiveRange>& ranges, const PackOptions& options = {}) {
  const Packing packing = pack(ranges, options);
  EXPECT_EQ(find_fault(ranges, packing.offsets, packing.peak), std::nullopt);
  EXPECT_LE(packing.lower_bound, packing.proven_bound);
  EXPECT_LE(packing.proven_bound, packing.peak);
  return packing;
}

std::vector<LiveRange> random_ranges(std::mt19937& random, int count, int times, int sizes,
                                     const std::vector<int64_t>& alignments) {
  std::vector<LiveRange> ranges;
  for (int i = 0; i < count; ++i) {
    const int64_t lower = random() % times;
    const int64_t upper = lower + 1 + random() % (times - lower);
    ranges.push_back({lower, upper, 1 + static_cast<int64_t>(random() % sizes),
                      alignments[random() % alignments.size()]});
  }
  return ranges;
}

/// The lowest peak there is: the packing that reaches it, taken in order of its offsets, comes out
/// of placing each range as low as it goes.
int64_t lowest_peak(const std::vector<LiveRange>& ranges) {
  std::vector<int> order(ranges.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t best = kHuge;
  do {
    std::vector<int64_t> offsets(ranges.size());
    int64_t peak = 0;
    for (size_t k = 0; k < order.size(); ++k) {
      const LiveRange& b = ranges[order[k]];
      int64_t offset = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (size_t j = 0; j < k; ++j) {
          const LiveRange& other = ranges[order[j]];
          const int64_t at = offsets[order[j]];
          if (b.lower >= other.upper || other.lower >= b.upper) continue;
          if (offset >= at + other.size || at >= offset + b.size) continue;
          offset = (at + other.size + b.alignment - 1) / b.alignment * b.alignment;
          moved = true;
        }
      }
      offsets[order[k]] = offset;
      peak = std::max(peak, offset + b.size);
    }
    best = std::min(best, peak);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(Pack, SharesBytesOfBuffersThatNeverMeet) {
  const Packing packing = packed({{0, 2, 400}, {1, 3, 200}, {2, 4, 400}});
  EXPECT_EQ(packing.peak, 600);
  EXPECT_EQ(packing.lower_bound, 600);
  EXPECT_TRUE(packing.is_optimal());
}

TEST(Pack, OfNothingIsEmpty) {
  const Packing packing = packed({});
  EXPECT_EQ(packing.peak, 0);
  EXPECT_EQ(packing.lower_bound, 0);
}

TEST(Pack, ReachesTheLowestPeakOfSmallCases) {
  std::mt19937 random(7);
  for (int i = 0; i < 400; ++i) {
    const auto ranges = random_ranges(random, 2 + i % 6, 6, 12, {1});
    const Packing packing = packed(ranges, {.seconds = 60});
    ASSERT_EQ(packing.peak, lowest_peak(ranges)) << "case " << i;
    ASSERT_TRUE(packing.is_optimal()) << "case " << i;
  }
}

TEST(Pack, ReachesTheLowestPeakOfAlignedSmallCases) {
  std::mt19937 random(8);
  for (int i = 0; i < 200; ++i) {
    const auto ranges = random_ranges(random, 2 + i % 6, 6, 40, {16});
    const Packing packing = packed(ranges, {.seconds = 60});
    const int64_t lowest = lowest_peak(ranges);
    // Which range ends on top is not searched for: that is less than one alignment.
    ASSERT_LE(packing.peak, round_up(lowest, 16)) << "case " << i;
    ASSERT_LE(packing.proven_bound, lowest) << "case " << i;
  }
}

TEST(Pack, KeepsMixedAlignments) {
  std::mt19937 random(9);
  for (int i = 0; i < 200; ++i) {
    const auto ranges = random_ranges(random, 2 + i % 6, 6, 40, {1, 8, 64});
    ASSERT_GE(packed(ranges).peak, lowest_peak(ranges)) << "case " << i;
  }
  packed(random_ranges(random, 40, 20, 40, {3, 7, 10}));
}

TEST(Pack, IsRightForRandomCasesOfAllShapes) {
  std::mt19937 random(10);
  for (int i = 0; i < 60; ++i) {
    const auto ranges = random_ranges(random, 20 + i * 3, 5 + i, 1 + i * 50, {1});
    packed(ranges, {.seconds = 60, .node_cap = 3000});
  }
}

/// Cuts the square of time and bytes into rectangles: a packing without a gap exists, and greedy
/// ones miss it.
std::vector<LiveRange> perfect_cut(std::mt19937& random, int cuts, int64_t side) {
  struct Rectangle {
    int64_t left, right, bottom, top;
  };
  std::vector<Rectangle> rectangles{{0, side, 0, side}};
  while (static_cast<int>(rectangles.size()) < cuts) {
    Rectangle& whole = rectangles[random() % rectangles.size()];
    Rectangle part = whole;
    const bool by_time = random() % 2 == 0;
    const int64_t length = by_time ? whole.right - whole.left : whole.top - whole.bottom;
    if (length < 2) continue;
    const int64_t cut = 1 + random() % (length - 1);
    if (by_time) {
      part.left = whole.right = whole.left + cut;
    } else {
      part.bottom = whole.top = whole.bottom + cut;
    }
    rectangles.push_back(part);
  }
  std::shuffle(rectangles.begin(), rectangles.end(), random);
  std::vector<LiveRange> ranges;
  for (const Rectangle& r : rectangles) ranges.push_back({r.left, r.right, r.top - r.bottom});
  return ranges;
}

TEST(Pack, FindsPackingsWithoutAGap) {
  std::mt19937 random(11);
  for (int i = 0; i < 20; ++i) {
    const auto ranges = perfect_cut(random, 20 + 2 * i, 1000);
    const Packing packing = packed(ranges, {.seconds = 60, .node_cap = 400'000});
    EXPECT_EQ(packing.lower_bound, 1000);
    EXPECT_EQ(packing.peak, 1000) << "case " << i;
  }
}

TEST(Pack, DependsOnTheNodeCapAlone) {
  std::mt19937 random(12);
  const auto ranges = perfect_cut(random, 120, 1000);
  const PackOptions options{.seconds = 60, .node_cap = 2000};
  const Packing first = packed(ranges, options);
  const Packing second = packed(ranges, options);
  EXPECT_EQ(first.offsets, second.offsets);
  EXPECT_EQ(first.nodes, second.nodes);
  EXPECT_LE(first.nodes, 2000);
}

TEST(Pack, StopsWhereItIsEnough) {
  std::mt19937 random(13);
  const auto ranges = perfect_cut(random, 80, 1000);
  const Packing packing = packed(ranges, {.seconds = 60, .enough = 1'000'000});
  EXPECT_EQ(packing.nodes, 0);
}

TEST(Pack, LeavesFixedBuffersWhereTheyAre) {
  std::vector<LiveRange> ranges{{0, 4, 100, 1, 300}, {0, 4, 300}, {2, 6, 50}, {3, 5, 0, 1, 7}};
  const Packing packing = packed(ranges);
  EXPECT_EQ(packing.offsets[0], 300);
  EXPECT_EQ(packing.offsets[1], 0);
  EXPECT_EQ(packing.offsets[3], 7);
  EXPECT_EQ(packing.peak, 450);
}

TEST(Pack, GivesEmptyBuffersNoBytes) {
  const Packing packing = packed({{0, 1, 0}, {0, 5, 0}, {0, 5, 10}});
  EXPECT_EQ(packing.peak, 10);
}

TEST(Pack, RefusesWhatIsNoBuffer) {
  const auto refused = [](std::vector<LiveRange> ranges) {
    EXPECT_THROW(pack(ranges), InvalidArgumentError);
  };
  refused({{0, 1, -1}});
  refused({{1, 1, 5}});
  refused({{2, 1, 5}});
  refused({{0, 1, 5, 0}});
  refused({{0, 1, 5, -4}});
  refused({{0, 1, 5, 4, 6}});
  refused({{0, 1, 5, 4, -8}});
  refused({{0, 1, kHuge}});
  refused({{0, 1, kHuge / 8}, {0, 1, kHuge / 8}, {0, 1, kHuge / 8}});
  refused({{0, 1, 5, kHuge}});
  refused({{0, 3, 5, 1, 10}, {2, 4, 5, 1, 14}});
  refused({{0, 3, 5, 1, 10}, {2, 4, 9, 1, 2}});
  EXPECT_NO_THROW(pack(std::vector<LiveRange>{{0, 3, 5, 1, 10}, {3, 4, 9, 1, 2}}));
}

TEST(Pack, TakesTimesFromEndToEnd) {
  constexpr int64_t kLow = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(packed({{kLow, kHuge, 5}, {kLow, 0, 7}, {0, kHuge, 3}}).peak, 12);
}

/// Seconds that packing takes, checked.
double seconds_to_pack(const std::vector<LiveRange>& ranges, const PackOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Packing packing = pack(ranges, options);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(find_fault(ranges, packing.offsets, packing.peak), std::nullopt);
  return taken.count();
}

TEST(Pack, IsQuickForVeryManyBuffers) {
  std::mt19937 random(14);
  std::vector<LiveRange> sparse;
  for (int i = 0; i < 100'000; ++i) {
    const int64_t lower = random() % 100'000;
    sparse.push_back({lower, lower + 1 + static_cast<int64_t>(random() % 50),
                      1 + static_cast<int64_t>(random() % 4096), 64});
  }
  EXPECT_LT(seconds_to_pack(sparse, {.seconds = 0.1}), 20);
  auto dense = random_ranges(random, 50'000, 50'000, 4096, {64});
  EXPECT_LT(seconds_to_pack(dense, {.seconds = 0.1}), 20);
  dense.front().fixed = 640;
  EXPECT_LT(seconds_to_pack(dense, {.seconds = 0.1}), 20);
}

TEST(Pack, KeepsToItsTime) {
  std::mt19937 random(15);
  const auto ranges = perfect_cut(random, 2000, 100'000);
  EXPECT_LT(seconds_to_pack(ranges, {.seconds = 0.2}), 5);
}

TEST(LoadLowerBound, CountsPaddingBetweenButNotAboveBuffers) {
  EXPECT_EQ(load_lower_bound(std::vector<LiveRange>{{0, 2, 1, 64}, {1, 3, 60, 64}}), 65);
  EXPECT_EQ(load_lower_bound(std::vector<LiveRange>{{0, 1, 1, 64}, {1, 2, 60, 64}}), 60);
  EXPECT_EQ(load_lower_bound(std::vector<LiveRange>{{0, 2, 1, 64}, {1, 3, 60, 32}}), 61);
  EXPECT_EQ(load_lower_bound(std::vector<LiveRange>{{0, 2, 10, 1, 90}}), 100);
}

TEST(Greedy, EachKindIsRight) {
  std::mt19937 random(16);
  for (int i = 0; i < 50; ++i) {
    const auto ranges = random_ranges(random, 60, 30, 500, {1, 16, 64});
    for (const bool backward : {false, true}) {
      const Offsets offsets = allocate_in_time(ranges, backward);
      ASSERT_EQ(find_fault(ranges, offsets, peak_of(ranges, offsets)), std::nullopt);
    }
    for (const auto& order : greedy_orders(ranges)) {
      int64_t work = kHuge;
      for (const Offsets& offsets :
           {stack_in_order(ranges, order), *place_in_order(ranges, order, Fit::first, work),
            *place_in_order(ranges, order, Fit::best, work)}) {
        ASSERT_EQ(find_fault(ranges, offsets, peak_of(ranges, offsets)), std::nullopt);
      }
    }
  }
}

TEST(Greedy, GivesUpWhenTheWorkIsSpent) {
  std::mt19937 random(17);
  const auto ranges = random_ranges(random, 100, 30, 500, {1});
  int64_t work = 10;
  EXPECT_EQ(place_in_order(ranges, greedy_orders(ranges)[0], Fit::first, work), std::nullopt);
}

}  // namespace
}  // namespace tidemark::plan
