#include "tidemark/plan/pack/csv.h"

#include <gtest/gtest.h>
#include <tidemark/error.h>

#include <random>

namespace tidemark::plan {
namespace {

/// The message the text is refused with, or "accepted".
std::string refusal(std::string_view text) {
  try {
    parse_csv(text);
    return "accepted";
  } catch (const InvalidArgumentError& error) {
    return error.what();
  }
}

TEST(ParseCsv, ReadsTheFourColumnsInAnyOrder) {
  const BufferTable table = parse_csv("size, id,lower,upper\r\n10,a, 0,5\r\n\r\n20,b,-3,7");
  ASSERT_EQ(table.ids, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(table.ranges[0].size, 10);
  EXPECT_EQ(table.ranges[1].lower, -3);
  EXPECT_EQ(table.ranges[1].upper, 7);
  EXPECT_EQ(table.ranges[1].alignment, 1);
  EXPECT_FALSE(table.ranges[1].is_fixed());
}

TEST(ParseCsv, ReadsAlignmentsAndFixedOffsets) {
  const BufferTable table =
      parse_csv("\xef\xbb\xbfid,lower,upper,size,alignment,offset\na,0,5,1,64,128\nb,0,5,1,8,\n");
  EXPECT_EQ(table.ranges[0].alignment, 64);
  EXPECT_EQ(table.ranges[0].fixed, 128);
  EXPECT_FALSE(table.ranges[1].is_fixed());
}

TEST(ParseCsv, NamesTheLineOfAMistake) {
  const std::string header = "id,lower,upper,size\n";
  EXPECT_EQ(refusal(header), "accepted");
  EXPECT_NE(refusal("").find("no header"), std::string::npos);
  EXPECT_NE(refusal("id,lower,size\n").find("line 1: the header lacks the column \"upper\""),
            std::string::npos);
  EXPECT_NE(refusal("id,lower,upper,size,colour\n").find("\"colour\""), std::string::npos);
  EXPECT_NE(refusal("id,id,lower,upper,size\n").find("twice"), std::string::npos);
  EXPECT_EQ(refusal(header + "a,0,1,5\nb,0,x,5\n"),
            "line 3: upper is \"x\"; it must be a whole number");
  EXPECT_NE(refusal(header + "a,0,1\n").find("line 2: has 3 values"), std::string::npos);
  EXPECT_NE(refusal(header + "a,0,1,5,\n").find("line 2: has 5 values"), std::string::npos);
  EXPECT_NE(refusal(header + "a,0,1,5\na,0,1,5\n").find("line 3"), std::string::npos);
  EXPECT_NE(refusal(header + ",0,1,5\n").find("id is empty"), std::string::npos);
  EXPECT_NE(refusal(header + "a,1,1,5\n").find("lower must be less"), std::string::npos);
  EXPECT_NE(refusal(header + "a,0,1,-5\n").find("at least 0"), std::string::npos);
  EXPECT_NE(refusal(header + "a,0,1,5.5\n").find("whole number"), std::string::npos);
  EXPECT_NE(refusal(header + "a,0,1,\n").find("whole number"), std::string::npos);
  EXPECT_NE(refusal(header + "a,0,1,99999999999999999999\n").find("64 bits"), std::string::npos);
  EXPECT_NE(refusal(std::string(100'000, 'x')).find("unknown column"), std::string::npos);
  EXPECT_LT(refusal(std::string(100'000, 'x')).size(), 300u);
}

TEST(ParseCsv, EndsOnRubbishWithATypedError) {
  std::mt19937 random(5);
  const std::string good = "id,lower,upper,size\na,0,3,5\nb,1,4,7\nc,2,9,1\n";
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = good;
    for (size_t n = 1 + random() % 4; n > 0; --n) {
      const size_t at = random() % text.size();
      if (random() % 3 == 0) {
        text.erase(at, 1 + random() % 3);
      } else if (random() % 2 == 0) {
        text[at] = static_cast<char>(random());
      } else {
        text.insert(at, 1, ",\n-09\"\r"[random() % 7]);
      }
      if (text.empty()) break;
    }
    accepted += refusal(text) == "accepted";  // any other exception fails the test
  }
  EXPECT_GT(accepted, 100);
  EXPECT_LT(accepted, 19'000);
}

}  // namespace
}  // namespace tidemark::plan
