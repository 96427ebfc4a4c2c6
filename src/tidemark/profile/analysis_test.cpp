#include "tidemark/profile/analysis.h"

#include <gtest/gtest.h>

#include "tidemark/memory/buffer.h"
#include "tidemark/profile/testing.h"

namespace tidemark::profile {
namespace {

using testing::Draft;
using testing::TemporaryFile;

constexpr uint16_t kAdd = 1;
constexpr uint8_t kValue = static_cast<uint8_t>(memory::Holder::value);

/// A program that is written down line by line.
class Recorded {
 public:
  void op(uint32_t place) { push({now_, 1, 5, place, kAdd, EventKind::op, 0}); }
  uint64_t take(uint32_t place, uint64_t bytes, uint8_t holder = kValue) {
    push({now_, ++last_id_, bytes, place, kAdd, EventKind::allocate, holder});
    return last_id_;
  }
  void free(uint64_t id) { push({now_, id, 0, 0, 0, EventKind::free, 0}); }
  void change(uint64_t id, uint32_t place, uint64_t bytes, uint8_t holder) {
    push({now_, id, bytes, place, kAdd, EventKind::change, holder});
  }
  void mark(EventKind kind) { push({now_, 0, 0, 1, 0, kind, 0}); }
  Analysis analyse(const AnalysisOptions& options = {}) const {
    const TemporaryFile file;
    Draft draft;
    for (uint32_t place = 1; place < 10; ++place) {
      draft.name(NameTable::place, place, "train.py:" + std::to_string(place));
    }
    draft.name(NameTable::op, kAdd, "add").events(events_).end(events_.size());
    file.write(draft.view());
    return profile::analyse(file.path(), options);
  }

 private:
  void push(Event event) {
    events_.push_back(event);
    now_ += 10;
  }
  uint64_t now_ = 0, last_id_ = 0;
  std::vector<Event> events_;
};

const GroupUse& group_at(const Analysis& a, const std::string& place) {
  for (const GroupUse& g : a.groups) {
    if (g.place == place) return g;
  }
  throw std::runtime_error("no group at " + place);
}

TEST(Analysis, FindsThePeakAndItsOwners) {
  Recorded p;
  const uint64_t a = p.take(1, 1000), b = p.take(2, 500);
  p.free(b);
  p.take(3, 100);
  p.free(a);
  const Analysis got = p.analyse();
  EXPECT_EQ(got.peak, 1500);
  EXPECT_EQ(group_at(got, "train.py:1").bytes_at_peak, 1000);
  EXPECT_EQ(group_at(got, "train.py:2").bytes_at_peak, 500);
  EXPECT_EQ(group_at(got, "train.py:3").bytes_at_peak, 0);
  EXPECT_EQ(got.live_at_end, 100);
  ASSERT_EQ(got.alive.size(), 1u);
  EXPECT_EQ(got.alive[0].place, "train.py:3");
}

TEST(Analysis, StepsAreTheLinesThatRunEquallyOften) {
  Recorded p;
  for (int step = 0; step < 100; ++step) {
    p.op(1);
    for (int inner = 0; inner < 5; ++inner) p.op(2);
    p.take(3, 64);
    p.op(3);
    p.op(4);
    if (step % 5 == 0) p.op(5);  // prints now and then
  }
  const Analysis got = p.analyse();
  EXPECT_EQ(got.steps.count, 100u);
  EXPECT_EQ(got.steps.place, "train.py:1");
  const GroupUse& grows = group_at(got, "train.py:3");
  ASSERT_EQ(grows.at_samples.size(), 100u);
  EXPECT_EQ(grows.at_samples[99] - grows.at_samples[0], 99 * 64);
}

TEST(Analysis, OfWhatIsMadeAnewInEachStepOneStays) {
  Recorded p;
  uint64_t before = 0;
  for (int step = 1; step <= 50; ++step) {
    const uint64_t now = p.take(1, 64 * step);
    p.op(1);  // while both are there
    if (before) p.free(before);
    before = now;
  }
  const Analysis got = p.analyse();
  const GroupUse& grows = group_at(got, "train.py:1");
  ASSERT_EQ(grows.at_samples.size(), 50u);
  EXPECT_EQ(grows.at_samples[40] - grows.at_samples[10], 30 * 64);
  EXPECT_EQ(grows.at_samples[10], 11 * 64);
}

TEST(Analysis, AMarkedStepIsAStep) {
  Recorded p;
  for (int step = 0; step < 10; ++step) {
    p.mark(EventKind::step);
    for (int i = 0; i < 20; ++i) p.op(1);
  }
  const Analysis got = p.analyse();
  EXPECT_EQ(got.steps.count, 10u);
  EXPECT_EQ(got.steps.how, "marked by the program");
}

TEST(Analysis, LooksAtSomeOfManySteps) {
  Recorded p;
  for (int step = 0; step < 5000; ++step) {
    p.op(1);
    p.take(2, 10);
  }
  const Analysis got = p.analyse({.samples = 100});
  EXPECT_EQ(got.steps.count, 5000u);
  EXPECT_LE(got.steps.samples.size(), 100u);
  EXPECT_GE(got.steps.samples.size(), 90u);
  const GroupUse& grows = group_at(got, "train.py:2");
  for (size_t i = 0; i < got.steps.samples.size(); ++i) {
    EXPECT_EQ(grows.at_samples[i], static_cast<int64_t>(got.steps.samples[i]) * 10);
  }
}

TEST(Analysis, FollowsHoldersAndIdleArenas) {
  const auto arena = static_cast<uint8_t>(memory::Holder::arena);
  Recorded p;
  const uint64_t a = p.take(1, 1000), b = p.take(2, 300, arena);
  p.change(a, 1, 1000, static_cast<uint8_t>(memory::Holder::variable));
  p.change(b, 2, 300, arena | kIdle);
  const Analysis got = p.analyse();
  EXPECT_EQ(got.live_at_end, 1000);
  EXPECT_EQ(got.idle_at_end, 300);
  int64_t value = 0, variable = 0;
  for (const Series& s : got.timeline.by_holder) {
    if (s.name == "value") value = s.bytes.back();
    if (s.name == "variable") variable = s.bytes.back();
  }
  EXPECT_EQ(value + variable, 1000);
}

TEST(Analysis, TheTimelineKeepsTheHighestMoments) {
  Recorded p;
  for (int i = 0; i < 10000; ++i) p.free(p.take(1, i == 7777 ? 5000 : 10));
  const Analysis got = p.analyse({.stretches = 50});
  int64_t highest = 0;
  for (const int64_t bytes : got.timeline.by_place[0].bytes) highest = std::max(highest, bytes);
  EXPECT_EQ(highest, 5000);
  EXPECT_LE(got.timeline.times.size(), 102u);
}

TEST(Analysis, EndsThatWereLostDoNoHarm) {
  Recorded p;
  p.free(12345);
  p.change(999, 1, 10, 0);
  const uint64_t a = p.take(1, 100);
  p.free(a);
  p.free(a);
  const Analysis got = p.analyse();
  EXPECT_EQ(got.live_at_end, 0);
  EXPECT_EQ(got.peak, 100);
}

}  // namespace
}  // namespace tidemark::profile
