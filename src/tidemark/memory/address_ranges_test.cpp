#include "tidemark/memory/address_ranges.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace tidemark::memory {
namespace {

TEST(AddressRanges, NeighboursBecomeOne) {
  AddressRanges space(1 << 20, 256);
  std::vector<AddressRanges::Range*> taken;
  for (int i = 0; i < 4; ++i) taken.push_back(space.take(256 << 10));
  EXPECT_EQ(space.take(1), nullptr);
  space.put(taken[1]);
  space.put(taken[3]);
  EXPECT_EQ(space.largest_free(), size_t{256} << 10);
  space.put(taken[2]);
  EXPECT_EQ(space.largest_free(), size_t{768} << 10);
  space.put(taken[0]);
  EXPECT_EQ(space.largest_free(), size_t{1} << 20);
}

TEST(AddressRanges, SmallOnesAreRounded) {
  AddressRanges space(1024, 256);
  EXPECT_EQ(space.take(1)->offset, 0u);
  EXPECT_EQ(space.take(257)->offset, 256u);
  EXPECT_EQ(space.take(0)->offset, 768u);
  EXPECT_EQ(space.take(1), nullptr);
}

TEST(AddressRanges, NeverOverlapAndNothingIsLost) {
  constexpr size_t kSpace = 4 << 20;
  AddressRanges space(kSpace, 64);
  std::mt19937 rng(7);
  std::map<size_t, AddressRanges::Range*> live;
  for (int round = 0; round < 20000; ++round) {
    if (live.empty() || rng() % 2) {
      AddressRanges::Range* range = space.take(1 + rng() % (rng() % 50 == 0 ? 900000 : 9000));
      if (!range) continue;
      const auto after = live.upper_bound(range->offset);
      ASSERT_TRUE(after == live.end() || range->offset + range->size <= after->first);
      ASSERT_TRUE(after == live.begin() ||
                  std::prev(after)->first + std::prev(after)->second->size <= range->offset);
      live.emplace(range->offset, range);
    } else {
      auto at = live.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(rng() % live.size()));
      space.put(at->second);
      live.erase(at);
    }
  }
  for (const auto& [offset, range] : live) space.put(range);
  EXPECT_EQ(space.largest_free(), kSpace);
}

}  // namespace
}  // namespace tidemark::memory
