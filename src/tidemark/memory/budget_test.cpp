#include "tidemark/memory/budget.h"
#include "tidemark/memory/buffer.h"
#include "tidemark/memory/context.h"
#include "tidemark/memory/testing.h"

#include <tidemark/error.h>
#include <tidemark/memory.h>

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace tidemark::memory {
namespace {

/// The message of the ResourceExhaustedError that the request gets; empty when it succeeds.
std::string refusal_of(const Request& request) {
  try {
    release(allocate(request));
    return "";
  } catch (const ResourceExhaustedError& error) {
    return error.what();
  }
}

/// Sets the process limit for the time of a test.
class ProcessLimit {
 public:
  explicit ProcessLimit(int64_t bytes) : old_(set_limit(bytes)) {}
  ~ProcessLimit() { set_limit(old_); }

 private:
  int64_t old_;
};

int64_t committed() {
  const Stats s = stats();
  return s.live + s.planned + s.retained;
}

TEST(Limit, IsAPromise) {
  release_retained();
  ProcessLimit limited(committed() + MiB(8));
  const Stats before = stats();
  Buffer* most = allocate({.bytes = 6 << 20});
  EXPECT_NE(refusal_of({.bytes = 4 << 20}), "");
  EXPECT_EQ(stats().live, before.live + static_cast<int64_t>(most->charged));
  EXPECT_EQ(refusal_of({.bytes = 1 << 20}), "");  // a smaller request succeeds
  release(most);
  EXPECT_EQ(refusal_of({.bytes = 7 << 20}), "");
  EXPECT_EQ(stats().live, before.live);
  EXPECT_EQ(stats().live_buffers, before.live_buffers);
}

TEST(Limit, HoldsForSmallBuffersToo) {
  release_retained();
  ProcessLimit limited(committed() + MiB(2));
  std::vector<Buffer*> buffers;
  EXPECT_THROW(
      {
        for (;;) {
          buffers.push_back(allocate({.bytes = 100}));
          ASSERT_LE(committed(), limit());
        }
      },
      ResourceExhaustedError);
  EXPECT_GT(buffers.size(), size_t{7000});  // 256 bytes each: most of the room was usable
  release(buffers.back());
  buffers.back() = allocate({.bytes = 100});
  for (Buffer* b : buffers) release(b);
}

TEST(Limit, RetainedMemoryGoesBackFirst) {
  release_retained();
  ProcessLimit limited(committed() + MiB(16));
  const int64_t old = set_retained_limit(MiB(64));
  release(allocate({.bytes = 10 << 20}));
  EXPECT_GE(stats().retained, MiB(10));
  EXPECT_EQ(refusal_of({.bytes = 15 << 20}), "");
  set_retained_limit(old);
}

TEST(Limit, SettersReturnTheOldValueAndRefuseTheImpossible) {
  const int64_t old = limit();
  EXPECT_EQ(set_limit(GiB(1)), old);
  EXPECT_EQ(limit(), GiB(1));
  Buffer* b = allocate({.bytes = 3 << 20});
  EXPECT_THROW(set_limit(MiB(2)), InvalidArgumentError);
  EXPECT_THROW(set_limit(0), InvalidArgumentError);
  EXPECT_THROW(set_limit(-5), InvalidArgumentError);
  EXPECT_THROW(set_retained_limit(-1), InvalidArgumentError);
  EXPECT_EQ(limit(), GiB(1));
  release(b);
  EXPECT_EQ(set_limit(old), GiB(1));
}

TEST(Limit, AbsurdSizesGetTheErrorToo) {
  const Stats before = stats();
  for (size_t bytes : {size_t{1} << 46, size_t{1} << 47, size_t{1} << 62, size_t{1} << 63,
                       ~size_t{0}, ~size_t{0} - 4095}) {
    EXPECT_NE(refusal_of({.bytes = bytes}), "") << bytes;
  }
  EXPECT_EQ(stats().live, before.live);
}

/// Lets the system refuse to map more than `bytes` on top of what is mapped now.
class AddressSpaceLimit {
 public:
  explicit AddressSpaceLimit(rlim_t bytes) {
    getrlimit(RLIMIT_AS, &old_);
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit lower = old_;
    lower.rlim_cur = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + bytes;
    setrlimit(RLIMIT_AS, &lower);
  }
  ~AddressSpaceLimit() { setrlimit(RLIMIT_AS, &old_); }

 private:
  rlimit old_{};
};

TEST(Limit, ARefusalByTheSystemTakesTheSameRoad) {
  release_retained();
  const Stats before = stats();
  AddressSpaceLimit limited(64 << 20);
  release(allocate({.bytes = 40 << 20}));
  EXPECT_GE(stats().retained, MiB(40));
  EXPECT_EQ(refusal_of({.bytes = 50 << 20}), "");  // after the 40 retained went back
  const std::string message = refusal_of({.bytes = 100 << 20});
  EXPECT_NE(message.find("operating system refused"), std::string::npos) << message;
  EXPECT_EQ(refusal_of({.bytes = 1 << 20}), "");
  EXPECT_EQ(stats().live, before.live);
}

TEST(Scope, LimitsWhatIsAllocatedInside) {
  Buffer* outside = allocate({.bytes = 1 << 20});
  LimitScope scope(MiB(1));
  EXPECT_EQ(scope.used(), 0);
  Buffer* inside = allocate({.bytes = 512 << 10});
  EXPECT_EQ(scope.used(), static_cast<int64_t>(inside->charged));
  EXPECT_NE(refusal_of({.bytes = 600 << 10}), "");
  EXPECT_EQ(scope.used(), static_cast<int64_t>(inside->charged));
  release(outside);
  EXPECT_NE(refusal_of({.bytes = 600 << 10}), "");
  release(inside);
  EXPECT_EQ(scope.used(), 0);
  EXPECT_EQ(refusal_of({.bytes = 600 << 10}), "");
}

TEST(Scope, NeverExceedsItsLimitByReusingALargerMapping) {
  release_retained();
  release(allocate({.bytes = 1100 << 10}));
  LimitScope scope(MiB(1) + KiB(1));
  Buffer* b = allocate({.bytes = 1 << 20});
  EXPECT_LE(scope.used(), MiB(1) + KiB(1));
  release(b);
}

TEST(Scope, InnerChargesGoToOuterOnesAndOutliveThem) {
  LimitScope outer(MiB(4), "outer");
  Buffer* survivor = nullptr;
  {
    LimitScope inner(MiB(2), "inner");
    survivor = allocate({.bytes = 1 << 20});
    EXPECT_EQ(inner.used(), outer.used());
    {
      LimitScope generous(MiB(100));
      EXPECT_NE(refusal_of({.bytes = 1200 << 10}).find("\"inner\""), std::string::npos);
    }
  }
  EXPECT_EQ(outer.used(), static_cast<int64_t>(survivor->charged));
  EXPECT_NE(refusal_of({.bytes = 3200 << 10}).find("\"outer\""), std::string::npos);
  std::thread([&] { release(survivor); }).join();
  EXPECT_EQ(outer.used(), 0);
}

TEST(Scope, BuffersMayOutliveAllScopes) {
  Buffer* survivor = nullptr;
  {
    LimitScope outer(MiB(4));
    LimitScope inner(MiB(4));
    survivor = allocate({.bytes = 100000});
  }
  shrink(survivor, 1000);
  release(survivor);
  EXPECT_EQ(thread_context.budget, nullptr);
}

TEST(Scope, RefusesNegativeLimits) { EXPECT_THROW(LimitScope scope(-1), InvalidArgumentError); }

TEST(Budget, CanBeEnteredOnSeveralThreadsAndReset) {
  Budget* budget = Budget::create(MiB(1), "served model", nullptr);
  Buffer* a = nullptr;
  Buffer* b = nullptr;
  std::thread([&] {
    BudgetScope scope(budget);
    a = allocate({.bytes = 300000});
  }).join();
  {
    BudgetScope scope(budget);
    b = allocate({.bytes = 300000});
  }
  EXPECT_EQ(used_of(budget), static_cast<int64_t>(a->charged + b->charged));
  EXPECT_THROW(set_limit_of(budget, 1000), InvalidArgumentError);
  EXPECT_EQ(set_limit_of(budget, KiB(700)), MiB(1));
  release(a);
  release(b);
  EXPECT_EQ(used_of(budget), 0);
  EXPECT_GE(peak_of(budget), 600000);
  Budget::drop(budget);
}

TEST(Refusal, SaysWhatWasWantedAndWhoHasTheMemory) {
  const Shape large{300, 1000};
  const Shape wanted{1000, 1000};
  thread_context.op = "multiply";
  Buffer* b = allocate(
      {.bytes = 1200000, .dtype = DType::float32, .shape = &large, .holder = Holder::variable});
  thread_context.op = "matmul";
  LimitScope scope(MiB(2), "step");
  const std::string text =
      refusal_of({.bytes = 4000000, .dtype = DType::float32, .shape = &wanted});
  thread_context.op = nullptr;
  for (const char* part :
       {"OOM when allocating tensor with shape [1000,1000] and type float32 in op matmul",
        "over the limit of \"step\"", "wanted 3.82 MiB", "used 0 B", "limit 2 MiB",
        "1.14 MiB in 1 buffer", "multiply, float32 (300, 1000), held as variable",
        "(unknown place)", "smaller pieces"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
  release(b);
}

TEST(Injection, FailsTheChosenAllocationOnly) {
  const Stats before = stats();
  testing::FailAllocation failure(2);
  Buffer* first = allocate({.bytes = 10});
  EXPECT_FALSE(failure.happened());
  EXPECT_NE(refusal_of({.bytes = 10}).find("injected"), std::string::npos);
  EXPECT_TRUE(failure.happened());
  EXPECT_EQ(refusal_of({.bytes = 10}), "");
  release(first);
  EXPECT_EQ(stats().live, before.live);
  EXPECT_EQ(stats().allocations, before.allocations + 3);
}

TEST(Injection, CanWalkThroughAWholeProgram) {
  const auto program = [] {
    std::vector<Buffer*> held;
    struct Cleaner {
      std::vector<Buffer*>& held;
      ~Cleaner() {
        for (Buffer* b : held) release(b);
      }
    } cleaner{held};
    for (size_t bytes : {10, 100000, 5000000, 10}) held.push_back(allocate({.bytes = bytes}));
  };
  const int64_t live = stats().live;
  int failures = 0;
  for (int64_t n = 1;; ++n) {
    testing::FailAllocation failure(n);
    try {
      program();
    } catch (const ResourceExhaustedError&) {
      ++failures;
    }
    EXPECT_EQ(stats().live, live);
    if (!failure.happened()) break;
  }
  EXPECT_EQ(failures, 4);
}

TEST(Poison, ShowsInFreshBuffers) {
  const bool old = testing::set_poison(true);
  for (size_t bytes : {100, 1 << 20}) {
    Buffer* b = allocate({.bytes = bytes});
    const auto* data = static_cast<unsigned char*>(b->data);
    EXPECT_EQ(data[0], 0xa5);
    EXPECT_EQ(data[bytes - 1], 0xa5);
    release(b);
  }
  testing::set_poison(old);
}

#if defined(__SANITIZE_ADDRESS__)
TEST(Poison, MakesTheSanitizerCatchStrayReads) {
  Buffer* b = allocate({.bytes = 100});
  const volatile char* data = static_cast<char*>(b->data);
  EXPECT_DEATH((void)data[104], "use-after-poison");
  release(b);
  EXPECT_DEATH((void)data[0], "use-after-poison");
}
#endif

}  // namespace
}  // namespace tidemark::memory
