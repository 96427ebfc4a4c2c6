#include "tidemark/plan/pack/check.h"

#include <gtest/gtest.h>

#include <random>

namespace tidemark::plan {
namespace {

std::string fault(const std::vector<LiveRange>& ranges, const std::vector<int64_t>& offsets,
                  int64_t peak) {
  return find_fault(ranges, offsets, peak).value_or("");
}

TEST(FindFault, AcceptsWhatIsApartInTimeOrBytes) {
  EXPECT_EQ(fault({{0, 2, 10}, {2, 4, 10}, {0, 4, 5}}, {0, 0, 10}, 15), "");
  EXPECT_EQ(fault({}, {}, 0), "");
  EXPECT_EQ(fault({{0, 2, 0}, {0, 2, 10}}, {3, 0}, 10), "");  // no bytes, no clash
}

TEST(FindFault, NamesTheTwoThatClash) {
  EXPECT_NE(fault({{0, 2, 10}, {1, 4, 10}}, {0, 9}, 19).find("buffers 0 and 1"), std::string::npos);
  EXPECT_NE(fault({{0, 2, 10}, {1, 4, 10}}, {9, 0}, 19), "");
  EXPECT_NE(fault({{0, 2, 10}, {1, 4, 10}}, {5, 5}, 15), "");
  EXPECT_NE(fault({{0, 9, 10}, {1, 4, 2}}, {0, 4}, 10), "");
}

TEST(FindFault, SeesEndsAboveThePeakAndBadOffsets) {
  EXPECT_NE(fault({{0, 2, 10}}, {0}, 9), "");
  EXPECT_NE(fault({{0, 2, 10}}, {-1}, 20), "");
  EXPECT_NE(fault({{0, 2, 10, 8}}, {4}, 20), "");
  EXPECT_NE(fault({{0, 2, 10, 1, 3}}, {4}, 20), "");
  EXPECT_NE(fault({{0, 2, 10}}, {}, 20), "");
  EXPECT_NE(fault({{2, 2, 10}}, {0}, 20), "");
  EXPECT_NE(fault({{0, 2, 10}}, {INT64_MAX - 3}, 20), "");
}

/// Every pair compared, the plain way.
bool plainly_right(const std::vector<LiveRange>& ranges, const std::vector<int64_t>& offsets) {
  for (size_t a = 0; a < ranges.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      const bool same_time = ranges[a].lower < ranges[b].upper && ranges[b].lower < ranges[a].upper;
      const bool same_bytes =
          offsets[a] < offsets[b] + ranges[b].size && offsets[b] < offsets[a] + ranges[a].size;
      if (same_time && same_bytes) return false;
    }
  }
  return true;
}

TEST(FindFault, AgreesWithComparingEveryPair) {
  std::mt19937 random(3);
  int right = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<LiveRange> ranges;
    std::vector<int64_t> offsets;
    for (size_t n = 2 + random() % 4; n > 0; --n) {
      const int64_t lower = random() % 8;
      ranges.push_back({lower, lower + 1 + static_cast<int64_t>(random() % 4),
                        1 + static_cast<int64_t>(random() % 4)});
      offsets.push_back(random() % 12);
    }
    const bool expected = plainly_right(ranges, offsets);
    right += expected;
    ASSERT_EQ(fault(ranges, offsets, 100).empty(), expected) << "case " << i;
  }
  EXPECT_GT(right, 2000);
  EXPECT_LT(right, 18'000);
}

}  // namespace
}  // namespace tidemark::plan
