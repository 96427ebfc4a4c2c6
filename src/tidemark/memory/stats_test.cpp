#include "tidemark/memory/buffer.h"
#include "tidemark/memory/cache_registry.h"
#include "tidemark/memory/context.h"
#include "tidemark/memory/os.h"

#include <tidemark/memory.h>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>
#include <vector>

namespace tidemark::memory {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // shadow memory grows as memory is touched, and is not ours
#else
constexpr bool kSanitized = false;
#endif

TEST(Stats, SumToTheResidentMemory) {
  Buffer* b = allocate({.bytes = 32 << 20});
  const Stats untouched = stats();
  EXPECT_EQ(untouched.live + untouched.planned + untouched.retained + untouched.not_ours,
            untouched.resident + untouched.untouched);
  EXPECT_GT(untouched.not_ours, 0);
  std::memset(b->data, 1, b->bytes);
  const Stats touched = stats();
  EXPECT_GE(touched.resident, MiB(32));
  EXPECT_LE(touched.untouched, untouched.untouched - MiB(30));
  // Writing our own memory does not change what is not ours, give or take a little noise.
  EXPECT_LT(std::abs(touched.not_ours - untouched.not_ours), kSanitized ? GiB(1) : MiB(2));
  release(b);
}

TEST(Stats, NotOursStaysWhereItIsWhileTensorsComeAndGo) {
  if (kSanitized) GTEST_SKIP();
  release_retained();
  const int64_t before = stats().not_ours;
  std::vector<Buffer*> buffers;
  for (size_t i = 0; i < 3000; ++i) {
    buffers.push_back(allocate({.bytes = i * 7}));
    std::memset(buffers.back()->data, 1, i * 7);
  }
  EXPECT_LT(std::abs(stats().not_ours - before), MiB(1));
  for (Buffer* b : buffers) release(b);
  EXPECT_LT(std::abs(stats().not_ours - before), MiB(1));
  release_retained();
  EXPECT_LT(std::abs(stats().not_ours - before), MiB(1));
}

TEST(Report, FitsATerminalAndNamesEverything) {
  CacheRegistration cache([] { return CacheUse{"traces", 3, 1000, 2000, 7, 5, 1}; });
  thread_context.op = "a_very_long_op_name_indeed";
  Buffer* b = allocate({.bytes = 5 << 20, .holder = Holder::tape});
  thread_context.op = nullptr;
  const std::string text = report();
  release(b);
  for (const char* part : {"live ", "planned ", "retained ", "not ours ", "resident ", "limit ",
                           "place", "a_very_long_o…", "tape", "5 MiB", "at the peak of", "traces",
                           "(unknown place)", "1.95 KiB"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto columns =
        std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; });
    EXPECT_LE(columns, 100) << line;
  }
}

TEST(CacheRegistry, ForgetsACacheWhenItDies) {
  const size_t before = cache_uses().size();
  {
    CacheRegistration cache([] { return CacheUse{.name = "short-lived"}; });
    EXPECT_EQ(cache_uses().size(), before + 1);
  }
  EXPECT_EQ(cache_uses().size(), before);
}

TEST(Fork, ChildCanAllocateWhateverOthersWereDoing) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&stop] {
      while (!stop) {
        release(allocate({.bytes = 100}));
        release(allocate({.bytes = 100000}));
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a deadlock ends the child, and the test
      release(allocate({.bytes = 1000}));
      release(allocate({.bytes = 1000000}));
      _exit(stats().live_buffers >= 0 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  for (std::thread& t : threads) t.join();
}

TEST(Fork, WorksInAProcessThatHasDoneNothingElse) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a new process that runs this test alone
  EXPECT_EXIT(
      {
        alarm(20);
        release(allocate({.bytes = 1000}));
        const pid_t child = fork();
        if (child == 0) {
          release(allocate({.bytes = 1000}));
          _exit(report().empty() ? 1 : 0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        _exit(status == 0 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

class ControlGroups : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ =
        std::filesystem::temp_directory_path() / ("tidemark-cgroups-" + std::to_string(getpid()));
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << "\n";
  }
  int64_t limit() { return os::cgroup_limit(root_ / "membership", root_); }

  std::filesystem::path root_;
};

TEST_F(ControlGroups, SmallestLimitOnTheWayUpHolds) {
  write("membership", "0::/a/b/c");
  write("a/b/c/memory.max", "max");
  write("a/b/memory.max", "5000");
  write("a/memory.max", "7000");
  EXPECT_EQ(limit(), 5000);
  write("a/b/c/memory.high", "4000");
  EXPECT_EQ(limit(), 4000);
}

TEST_F(ControlGroups, VersionOneIsReadToo) {
  write("membership", "9:name=systemd:/x\n4:cpu,memory:/box\n3:cpuset:/");
  write("memory/box/memory.limit_in_bytes", "123456");
  write("memory/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(limit(), 123456);
}

TEST_F(ControlGroups, NothingThereMeansNoLimit) {
  EXPECT_EQ(limit(), std::numeric_limits<int64_t>::max());
  write("membership", "0::/\nnonsense\n");
  EXPECT_EQ(limit(), std::numeric_limits<int64_t>::max());
}

TEST(MemoryAvailable, IsBelowWhatTheMachineHas) {
  const int64_t physical = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  EXPECT_GT(os::memory_available(), 0);
  EXPECT_LE(os::memory_available(), physical);
  EXPECT_LT(memory::limit(), physical);
}

}  // namespace
}  // namespace tidemark::memory
