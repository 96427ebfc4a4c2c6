#include "tidemark/memory/runs.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "tidemark/memory/buffer.h"
#include "tidemark/memory/snapshot.h"

namespace tidemark::memory {
namespace {

size_t count_named(const std::string& name) {
  size_t count = 0;
  for (const RunSeen& run : latest_runs()) count += run.goes_on && name == run.name;
  return count;
}

TEST(Runs, AreSeenWhileTheyGoOnAndTheOutermostCounts) {
  EXPECT_EQ(count_named("step()"), 0u);
  {
    const ScopedRun outer(intern_name(std::string("step") + "()"));
    const uint32_t number = thread_context.run;
    const ScopedRun inner("a graph");
    EXPECT_EQ(thread_context.run, number);
    EXPECT_EQ(count_named("step()"), 1u);
    EXPECT_EQ(count_named("a graph"), 0u);
    std::thread([] {
      const ScopedRun other("elsewhere");
      EXPECT_EQ(count_named("elsewhere"), 1u);
      EXPECT_EQ(count_named("step()"), 1u);
    }).join();
    EXPECT_EQ(count_named("elsewhere"), 0u);
  }
  EXPECT_EQ(thread_context.run, 0u);
  EXPECT_EQ(count_named("step()"), 0u);
  size_t ended = 0;
  for (const RunSeen& run : latest_runs()) ended += std::string("step()") == run.name;
  EXPECT_EQ(ended, 1u);  // it is remembered for a while
}

TEST(Runs, BuffersCarryTheRunThatMadeOrGotThem) {
  Buffer* before = allocate({.bytes = 100, .holder = Holder::dataset});
  EXPECT_EQ(before->run, 0u);
  const ScopedRun run("step()");
  Buffer* during = allocate({.bytes = 100});
  EXPECT_EQ(during->run, thread_context.run);
  set_holder(before, Holder::value);  // an element is handed to whoever asked for it
  EXPECT_EQ(before->run, thread_context.run);
  int64_t found = 0;
  for (const Unclaimed& u : collect_unclaimed({during})) found += u.run == thread_context.run;
  EXPECT_EQ(found, 1);
  release(before);
  release(during);
}

TEST(Runs, AChildKnowsItsOwnThreadOnly) {
  const ScopedRun mine("mine");
  bool is_there = false, may_end = false;
  std::mutex mutex;
  std::condition_variable changed;
  std::thread other([&] {
    const ScopedRun run("other");
    std::unique_lock hold(mutex);
    is_there = true;
    changed.notify_all();
    changed.wait(hold, [&] { return may_end; });
  });
  {
    std::unique_lock hold(mutex);
    changed.wait(hold, [&] { return is_there; });
  }
  const pid_t child = fork();
  if (child == 0) _exit(count_named("mine") == 1 && count_named("other") == 0 ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  {
    const std::lock_guard hold(mutex);
    may_end = true;
  }
  changed.notify_all();
  other.join();
}

}  // namespace
}  // namespace tidemark::memory
