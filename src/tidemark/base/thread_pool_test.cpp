#include "tidemark/base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace tidemark {
namespace {

class ThreadPool : public testing::Test {
 protected:
  void TearDown() override { set_num_threads(0); }
};

TEST_F(ThreadPool, EveryItemOnceWhateverTheThreads) {
  for (int threads : {1, 2, 5}) {
    set_num_threads(threads);
    std::vector<std::atomic<int>> hits(10007);
    parallel_for(10007, 64, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++hits[static_cast<size_t>(i)];
    });
    for (auto& hit : hits) ASSERT_EQ(hit, 1);
  }
}

TEST_F(ThreadPool, PiecesDoNotDependOnTheNumberOfThreads) {
  std::set<std::pair<int64_t, int64_t>> seen[2];
  for (int run = 0; run < 2; ++run) {
    set_num_threads(run == 0 ? 1 : 4);
    std::mutex mutex;
    parallel_for(1000, 96, [&](int64_t begin, int64_t end) {
      std::lock_guard lock(mutex);
      seen[run].emplace(begin, end);
    });
  }
  EXPECT_EQ(seen[0], seen[1]);
}

TEST_F(ThreadPool, NestedCallsAndManyCallersFinish) {
  set_num_threads(3);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        parallel_for(32, 4, [&](int64_t begin, int64_t end) {
          parallel_for(end - begin, 1, [&](int64_t b, int64_t e) { sum += e - b; });
        });
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 50 * 32);
}

TEST_F(ThreadPool, ExceptionsReachTheCaller) {
  set_num_threads(2);
  EXPECT_THROW(parallel_for(100, 1,
                            [](int64_t begin, int64_t) {
                              if (begin == 57) throw std::runtime_error("piece 57");
                            }),
               std::runtime_error);
  std::atomic<int> after{0};
  parallel_for(100, 1, [&](int64_t, int64_t) { ++after; });
  EXPECT_EQ(after, 100);
}

TEST_F(ThreadPool, ChildOfForkHasAPoolOfItsOwn) {
  set_num_threads(2);
  parallel_for(100, 1, [](int64_t, int64_t) {});
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> count{0};
    parallel_for(100, 1, [&](int64_t, int64_t) { ++count; });
    _exit(count == 100 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace tidemark
