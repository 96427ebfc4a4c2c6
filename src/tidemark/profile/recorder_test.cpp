#include "tidemark/profile/recorder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <thread>

#include "tidemark/memory/buffer.h"
#include "tidemark/profile/analysis.h"
#include "tidemark/profile/reader.h"
#include "tidemark/profile/testing.h"

#include <tidemark/create.h>
#include <tidemark/function.h>
#include <tidemark/memory.h>
#include <tidemark/ops.h>
#include <tidemark/tensor.h>

namespace tidemark::profile {
namespace {

using testing::TemporaryFile;

struct Counted {
  std::vector<Event> events;
  bool is_whole = false;
  uint64_t of(EventKind kind) const {
    uint64_t count = 0;
    for (const Event& e : events) count += e.kind == kind;
    return count;
  }
};

Counted read(const std::string& path) {
  Counted out;
  Reader reader(path);
  while (reader.next()) {
    out.events.insert(out.events.end(), reader.events().begin(), reader.events().end());
  }
  out.is_whole = reader.is_whole();
  return out;
}

memory::Buffer* take(size_t bytes) { return memory::allocate({.bytes = bytes}); }

TEST(Recorder, TellsOfPlansAndWhatLiesWhere) {
  const TemporaryFile file;
  start({.path = file.path()});
  auto step = function([](const Tensor& x) {
    const Tensor h = matmul(tanh(matmul(x, x)), x);
    return sum(matmul(h, exp(h)));
  });
  const Tensor x = ones({64, 64});
  for (int i = 0; i < 3; ++i) step(x);
  stop();
  const Counted got = read(file.path());
  EXPECT_EQ(got.of(EventKind::plan), 1u);
  const Analysis analysis = analyse(file.path(), {});
  ASSERT_EQ(analysis.plans.size(), 1u);
  const PlanMap& plan = analysis.plans[0];
  EXPECT_GE(plan.arena, 2 * 64 * 64 * 4);
  EXPECT_GE(plan.peak, plan.lower_bound);
  size_t in_arena = 0;
  for (const PlanMap::PlacedValue& a : plan.values) {
    if (a.kind != "arena" && a.kind != "workspace") continue;
    ++in_arena;
    EXPECT_LE(a.offset + a.bytes, plan.arena);
    EXPECT_FALSE(a.op.empty());
    for (const PlanMap::PlacedValue& b : plan.values) {
      if (&a == &b || (b.kind != "arena" && b.kind != "workspace")) continue;
      const bool at_once = a.first <= b.last && b.first <= a.last;
      const bool overlap = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
      EXPECT_FALSE(at_once && overlap) << a.op << " and " << b.op;
    }
  }
  EXPECT_GE(in_arena, 3u);
}

TEST(Recorder, WritesWhatHappens) {
  const TemporaryFile file;
  memory::Buffer* before = take(1000);
  start({.path = file.path()});
  EXPECT_TRUE(is_recording());
  memory::Buffer* during = take(100000);
  memory::set_holder(during, memory::Holder::variable);
  const Tensor sum = call("add", {Tensor(1.f), Tensor(2.f)}, {});
  memory::release(during);
  mark(EventKind::step, "epoch", 7);
  const Status status = stop();
  memory::release(before);
  EXPECT_FALSE(is_recording());
  EXPECT_EQ(status.lost, 0u);
  const Counted got = read(file.path());
  EXPECT_TRUE(got.is_whole);
  EXPECT_EQ(got.events.size(), status.events);
  EXPECT_GE(got.of(EventKind::found), 1u);
  EXPECT_EQ(got.of(EventKind::op), 1u);
  EXPECT_EQ(got.of(EventKind::step), 1u);
  uint64_t id = 0;
  for (const Event& e : got.events) {
    if (e.kind == EventKind::allocate && e.value >= 100000) id = e.id;
  }
  ASSERT_NE(id, 0u);
  bool changed = false, freed = false;
  for (const Event& e : got.events) {
    if (e.id != id) continue;
    changed |=
        e.kind == EventKind::change && e.holder == static_cast<uint8_t>(memory::Holder::variable);
    freed |= e.kind == EventKind::free;
  }
  EXPECT_TRUE(changed);
  EXPECT_TRUE(freed);
}

TEST(Recorder, IsOffUnlessAskedFor) {
  EXPECT_FALSE(is_recording());
  mark(EventKind::step, "", 0);
  EXPECT_FALSE(status().is_on);
}

TEST(Recorder, RecordsOneAtATime) {
  const TemporaryFile file;
  start({.path = file.path()});
  EXPECT_THROW(start({.path = file.path()}), InvalidArgumentError);
  stop();
  EXPECT_THROW(start({.path = "/nowhere/at/all"}), InvalidArgumentError);
  EXPECT_FALSE(is_recording());
}

TEST(Recorder, SwitchesItselfOffWhenTheDiskIsFull) {
  ::testing::internal::CaptureStderr();
  start({.path = "/dev/full"});
  for (int i = 0; i < 1000 && is_recording(); ++i) {
    for (int k = 0; k < 1000; ++k) mark(EventKind::step, "", 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_FALSE(is_recording());
  const Status status = stop();
  EXPECT_NE(status.error, "");
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("recording is off now"),
            std::string::npos);
}

TEST(Recorder, KeepsTheLastEventsInARing) {
  const TemporaryFile file;
  start({.path = "", .ring_events = 20000});
  for (uint64_t i = 0; i < 100000; ++i) mark(EventKind::step, "", i);
  save(file.path());
  stop();
  const Counted got = read(file.path());
  EXPECT_GE(got.events.size(), 20000u);
  EXPECT_LT(got.events.size(), 50000u);
  EXPECT_EQ(got.events.back().value, 99999u);
  for (size_t i = 1; i < got.events.size(); ++i) {
    EXPECT_EQ(got.events[i].value, got.events[i - 1].value + 1);
  }
}

TEST(Recorder, LosesNothingUnderThreads) {
  const TemporaryFile file;
  start({.path = file.path()});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 30000; ++i) {
        memory::release(take(64));
        mark(EventKind::call, "f", 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Status status = stop();
  EXPECT_EQ(status.lost, 0u);
  const Counted got = read(file.path());
  EXPECT_EQ(got.of(EventKind::allocate), 120000u);
  EXPECT_EQ(got.of(EventKind::free), 120000u);
  EXPECT_EQ(got.of(EventKind::call), 120000u);
}

TEST(Recorder, IsOffInTheChildOfAFork) {
  const TemporaryFile file;
  start({.path = file.path()});
  const pid_t child = fork();
  if (child == 0) {
    memory::release(take(64));
    const bool is_off = !is_recording() && !stop().is_on;
    _exit(is_off ? 0 : 1);
  }
  int result = -1;
  waitpid(child, &result, 0);
  EXPECT_EQ(result, 0);
  EXPECT_TRUE(is_recording());
  EXPECT_EQ(stop().error, "");
  EXPECT_TRUE(read(file.path()).is_whole);
}

}  // namespace
}  // namespace tidemark::profile
