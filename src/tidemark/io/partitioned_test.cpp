#include "tidemark/io/partitioned.h"

#include <gtest/gtest.h>
#include <tidemark/create.h>

namespace tidemark::io {
namespace {

using Part = std::vector<Extent>;

TEST(Partitioned, PartsCoverTheWholeOnce) {
  const Shape whole{4, 3};
  const Part top{{0, 2}, {0, -1}}, left{{2, 2}, {0, 1}}, right{{2, 2}, {1, 2}};
  EXPECT_EQ(find_fault_of_parts(whole, std::vector<Part>{top, left, right}), nullptr);
  EXPECT_STREQ(find_fault_of_parts(whole, std::vector<Part>{top, left}), "do not cover it");
  EXPECT_STREQ(find_fault_of_parts(whole, std::vector<Part>{top, left, left}), "overlap");
  for (const Part& wrong : {Part{{0, 2}}, Part{{3, 2}, {0, -1}}, Part{{-1, 2}, {0, -1}},
                            Part{{0, -2}, {0, -1}}, Part{{1, INT64_MAX}, {0, -1}}}) {
    EXPECT_STREQ(find_fault_of_parts(whole, std::vector<Part>{wrong}), "do not all lie within it");
  }
  EXPECT_STREQ(find_fault_of_parts({INT64_MAX, 3}, std::vector<Part>{top}),
               "have too many elements");
}

TEST(Partitioned, PartsAreCopiedToTheirPlaces) {
  const Tensor whole = zeros({4, 3});
  copy_part(whole, Part{{0, 2}, {0, -1}}, Tensor::of({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3}));
  copy_part(whole, Part{{2, 2}, {0, 1}}, Tensor::of({7.f, 8.f}, {2, 1}));
  copy_part(whole, Part{{2, 2}, {1, 2}}, Tensor::of({9.f, 10.f, 11.f, 12.f}, {2, 2}));
  const std::vector<float> wanted{1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11, 12};
  const auto values = whole.values<float>();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()), wanted);
}

}  // namespace
}  // namespace tidemark::io
