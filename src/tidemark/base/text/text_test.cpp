#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tidemark/base/text/crc32c.h"
#include "tidemark/base/text/fingerprint.h"
#include "tidemark/base/text/numbers.h"
#include "tidemark/base/text/snappy.h"
#include "tidemark/base/text/unicode.h"

namespace tidemark::text {

TEST(Fingerprint, IsFarmHashs) {
  EXPECT_EQ(farm_fingerprint(""), 0x9ae16a3b2f90404fu);
  EXPECT_EQ(farm_fingerprint("a"), 12917804110809363939u);
}

TEST(Fingerprint, SipHashOfItsPaper) {
  std::string message;
  for (char c = 0; c < 15; ++c) message += c;
  EXPECT_EQ(sip_hash(0x0706050403020100u, 0x0f0e0d0c0b0a0908u, message), 0xa129ca6149be45e5u);
}

uint32_t crc32c_bit_by_bit(std::string_view bytes) {
  uint32_t crc = ~uint32_t{0};
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
  }
  return ~crc;
}

TEST(Crc32c, IsThatOfItsDefinitionAtEveryLength) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  std::string text;
  for (uint32_t i = 0; i < 200'000; ++i) text += static_cast<char>(i * 2654435761u >> 24);
  for (const size_t size : {0, 1, 7, 8, 4095, 49151, 49152, 49153, 98303, 98304, 147463, 200'000}) {
    const std::string_view part = std::string_view(text).substr(0, size);
    EXPECT_EQ(crc32c(part), crc32c_bit_by_bit(part)) << size;
    for (const size_t cut : {size_t{0}, size / 3, size - std::min<size_t>(size, 1), size}) {
      const std::string_view head = part.substr(0, cut), tail = part.substr(cut);
      EXPECT_EQ(crc32c(tail, crc32c(head)), crc32c(part)) << size << " " << cut;
      EXPECT_EQ(joined_crc32c(crc32c(head), crc32c(tail), tail.size()), crc32c(part))
          << size << " " << cut;
    }
  }
}

TEST(Unicode, ReadsBackWhatItWrites) {
  for (const Encoding encoding : {Encoding::utf8, Encoding::utf16_be, Encoding::utf32_be}) {
    for (uint32_t value = 0; value <= 0x10FFFF; value += value < 0x900 ? 1 : 97) {
      if (!is_code_point(value)) continue;
      char bytes[4];
      const int size = write_code_point(encoding, value, bytes);
      const CodePoint point = first_code_point(encoding, {bytes, static_cast<size_t>(size)});
      ASSERT_TRUE(point.valid) << value;
      ASSERT_EQ(point.value, value);
      ASSERT_EQ(static_cast<int>(point.bytes), size);
    }
  }
}

TEST(Unicode, RefusesWhatIsMalformed) {
  for (const char* text : {"\x80", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                           "\xFF", "\xE2\x82"}) {
    EXPECT_FALSE(first_code_point(Encoding::utf8, text).valid) << text;
  }
  EXPECT_EQ(first_code_point(Encoding::utf8, "\xE2\x82z").bytes, 2u);
  EXPECT_FALSE(first_code_point(Encoding::utf16_be, std::string_view("\xD8\x00\x00\x41", 4)).valid);
}

TEST(Snappy, ReadsWhatItsLibraryWrote) {
  // A key four times, then the bytes 0 to 59.
  const std::string_view key = "variable/kernel/.ATTRIBUTES/VARIABLE_VALUE";
  std::string block = "\xe4\x01\xa8";
  block.append(key);
  block.append("v\xfe*\0\xf2*\0\xec", 8);
  std::string wanted;
  for (int i = 0; i < 4; ++i) wanted += key;
  for (char c = 0; c < 60; ++c) {
    wanted += c;
    block += c;
  }
  EXPECT_EQ(snappy_size(block), wanted.size());
  EXPECT_EQ(unsnappy(block), wanted);
}

TEST(Snappy, RefusesWhatIsMalformed) {
  EXPECT_EQ(unsnappy(std::string_view("\0", 1)), "");
  EXPECT_EQ(unsnappy("\x06\x04xy\x06\x02"), std::nullopt);                         // cut short
  EXPECT_EQ(unsnappy(std::string_view("\x06\x04xy\x0e\x02\0", 7)), "xyxyxy");      // into itself
  EXPECT_EQ(unsnappy(std::string_view("\x06\x04xy\x0e\x03\0", 7)), std::nullopt);  // before it
  EXPECT_EQ(unsnappy(std::string_view("\x06\x04xy\x0e\0\0", 7)), std::nullopt);    // of nothing
  EXPECT_EQ(unsnappy(std::string_view("\x05\x04xy\x0e\x02\0", 7)), std::nullopt);  // too long
  EXPECT_EQ(unsnappy(std::string_view("\x07\x04xy\x0e\x02\0", 7)), std::nullopt);  // too short
  EXPECT_EQ(unsnappy("\xff"), std::nullopt);
  EXPECT_EQ(unsnappy("\x01\xfcxxxx"), std::nullopt);
}

TEST(Numbers, OutOfRangeGivesInfinityOrZero) {
  double value = 1;
  EXPECT_TRUE(parse_real("1e400", value));
  EXPECT_TRUE(std::isinf(value));
  EXPECT_TRUE(parse_real("-0.0000001e-400", value));
  EXPECT_EQ(value, 0);
  EXPECT_TRUE(parse_real("1" + std::string(400, '0') + "e-400", value));
  EXPECT_EQ(value, 1);
  for (const char* text :
       {"", " ", "+", "-", ".", "e5", "1e", "nan(1)", "0x", "0xg", "1 2", "+-1"}) {
    EXPECT_FALSE(parse_real(text, value)) << text;
  }
}

TEST(Numbers, IntegersKnowTheirRange) {
  int32_t small = 0;
  EXPECT_TRUE(parse_integer(" -2147483648 ", small));
  EXPECT_FALSE(parse_integer("2147483648", small));
  EXPECT_FALSE(parse_integer("+-1", small));
  uint32_t natural = 0;
  EXPECT_FALSE(parse_integer("-1", natural));
}

}  // namespace tidemark::text
