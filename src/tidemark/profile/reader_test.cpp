#include "tidemark/profile/reader.h"

#include <gtest/gtest.h>

#include "tidemark/profile/testing.h"

#include <tidemark/error.h>

namespace tidemark::profile {
namespace {

using testing::Draft;
using testing::TemporaryFile;

std::vector<Event> some_events(size_t count) {
  std::vector<Event> out;
  for (size_t i = 0; i < count; ++i) {
    out.push_back({i, i % 7, 100, 1, 1, i % 2 ? EventKind::free : EventKind::allocate, 0});
  }
  return out;
}

size_t count_events(Reader& reader) {
  size_t count = 0;
  while (reader.next()) count += reader.events().size();
  return count;
}

TEST(Reader, ReadsNamesAndEvents) {
  const TemporaryFile file;
  file.write(
      Draft().name(NameTable::place, 1, "a.py:1").events(some_events(20000)).end(20000).view());
  Reader reader(file.path());
  EXPECT_EQ(count_events(reader), 20000u);
  EXPECT_TRUE(reader.is_whole());
  EXPECT_EQ(reader.name(NameTable::place, 1), "a.py:1");
  EXPECT_EQ(reader.name(NameTable::place, 2), "");
}

TEST(Reader, ReadsUpToACut) {
  const TemporaryFile file;
  const Draft whole = Draft().events(some_events(10)).end(10);
  const size_t start = sizeof(Header) + sizeof(BlockHead);
  for (size_t cut = sizeof(Header); cut < whole.bytes.size(); ++cut) {
    file.write(whole.view().substr(0, cut));
    Reader reader(file.path());
    const size_t there = cut < start ? 0 : std::min<size_t>(10, (cut - start) / sizeof(Event));
    EXPECT_EQ(count_events(reader), there) << "cut at " << cut;
    EXPECT_FALSE(reader.is_whole());
  }
}

TEST(Reader, SkipsBlocksItDoesNotKnow) {
  const TemporaryFile file;
  Draft draft;
  const std::string later(100000, 'x');
  append_block(draft.bytes, static_cast<BlockKind>(77), later.data(), later.size());
  draft.events(some_events(3)).end(3);
  file.write(draft.view());
  Reader reader(file.path());
  EXPECT_EQ(count_events(reader), 3u);
  EXPECT_TRUE(reader.is_whole());
}

TEST(Reader, RefusesWhatIsNoRecording) {
  const TemporaryFile file;
  file.write("GIF89a and so on, certainly long enough for a header of sixty-four bytes or more");
  EXPECT_THROW(Reader(file.path()), InvalidArgumentError);
  file.write("");
  EXPECT_THROW(Reader(file.path()), InvalidArgumentError);
  Draft later;
  later.bytes[8] = 9;
  file.write(later.view());
  EXPECT_THROW(Reader(file.path()), InvalidArgumentError);
  EXPECT_THROW(Reader("/nowhere/at/all"), InvalidArgumentError);
}

}  // namespace
}  // namespace tidemark::profile
