#include "tidemark/base/wire.h"

#include <gtest/gtest.h>

#include <string>

namespace tidemark {

namespace {

struct StringSink {
  std::string text;
  void append(char c) { text += c; }
  void append(std::string_view s) { text += s; }
};

TEST(Wire, ReadsWhatItWrites) {
  StringSink sink;
  put_varint_field(sink, 1, 300);
  put_bytes_field(sink, 2, "tide");
  put_varint_field(sink, 3, ~uint64_t{0});
  EXPECT_EQ(sink.text.substr(0, 3), "\x08\xAC\x02");
  WireReader reader(sink.text);
  WireField field;
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.value, 300u);
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.bytes, "tide");
  ASSERT_TRUE(reader.next(field));
  EXPECT_EQ(field.value, ~uint64_t{0});
  EXPECT_FALSE(reader.next(field));
  EXPECT_TRUE(reader.ok());
}

TEST(Wire, StopsAtWhatIsMalformed) {
  const std::string_view cases[] = {
      "\x08",                                              // no value
      "\x12\x05tide",                                      // a length beyond the end
      "\x0B",                                              // a group
      std::string_view("\x00\x01", 2),                     // field 0
      "\x0D\x01\x02",                                      // a short fixed32
      "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01",  // eleven bytes
      "\x12\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01",      // a length of 2^64 - 1
  };
  for (std::string_view bytes : cases) {
    WireReader reader(bytes);
    WireField field;
    while (reader.next(field)) {
    }
    EXPECT_FALSE(reader.ok()) << bytes.size();
  }
}

}  // namespace

}  // namespace tidemark
