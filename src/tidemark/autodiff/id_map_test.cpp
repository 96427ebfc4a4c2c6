#include "tidemark/autodiff/id_map.h"

#include <gtest/gtest.h>

namespace tidemark::autodiff {
namespace {

TEST(IdMap, FindsWhatWasInsertedAndNothingElse) {
  IdMap map;
  for (uint64_t id = 1; id <= 5000; ++id) {
    EXPECT_EQ(map.find(id), -1);
    map.insert(id, static_cast<int32_t>(2 * id));
  }
  for (uint64_t id = 1; id <= 5000; ++id) EXPECT_EQ(map.find(id), static_cast<int32_t>(2 * id));
  EXPECT_EQ(map.find(uint64_t{1} << 63 | 7), -1);
  map.clear();
  EXPECT_EQ(map.find(7), -1);
  map.insert(7, 3);
  EXPECT_EQ(map.find(7), 3);
}

}  // namespace
}  // namespace tidemark::autodiff
