#include <tidemark/bytes.h>
#include <tidemark/error.h>

#include <gtest/gtest.h>

#include <limits>

namespace tidemark {
namespace {

TEST(FormatBytes, KeepsFourSignificantCharacters) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1 KiB");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(1296), "1.27 KiB");
  EXPECT_EQ(format_bytes(MiB(64)), "64 MiB");
  EXPECT_EQ(format_bytes(MiB(64) + KiB(512)), "64.5 MiB");
  EXPECT_EQ(format_bytes(MiB(1000)), "1000 MiB");
  EXPECT_EQ(format_bytes(-1536), "-1.5 KiB");
}

TEST(FormatBytes, RoundsUpIntoTheNextUnit) {
  EXPECT_EQ(format_bytes(MiB(1) - 1), "1 MiB");
  EXPECT_EQ(format_bytes(std::numeric_limits<int64_t>::max()), "8 EiB");
  EXPECT_EQ(format_bytes(std::numeric_limits<int64_t>::min()), "-8 EiB");
}

TEST(ParseBytes, ReadsUnitsInAnySpelling) {
  EXPECT_EQ(parse_bytes("512"), 512);
  EXPECT_EQ(parse_bytes(" 512 B "), 512);
  EXPECT_EQ(parse_bytes("64MiB"), MiB(64));
  EXPECT_EQ(parse_bytes("1.5 GiB"), MiB(1536));
  EXPECT_EQ(parse_bytes("2g"), GiB(2));
  EXPECT_EQ(parse_bytes("10 kb"), KiB(10));
  EXPECT_EQ(parse_bytes(".5k"), 512);
  EXPECT_EQ(parse_bytes("9223372036854775807"), std::numeric_limits<int64_t>::max());
}

TEST(ParseBytes, RefusesEverythingElse) {
  for (const char* text : {"", " ", "x", "-1", "+1", "1 x", "1 kibb", "1e3", "nan", "inf", "0x10",
                           "9223372036854775808", "8 EiB", "1k 2", "--", "1.5.5"}) {
    EXPECT_THROW(parse_bytes(text), InvalidArgumentError) << text;
  }
}

TEST(ParseBytes, ReadsWhatFormatWrites) {
  for (int64_t bytes : {int64_t{0}, int64_t{77}, KiB(3), MiB(64), GiB(5)}) {
    EXPECT_EQ(parse_bytes(format_bytes(bytes)), bytes);
  }
}

}  // namespace
}  // namespace tidemark
