#include "tidemark/memory/budget.h"
#include "tidemark/memory/buffer.h"
#include "tidemark/memory/context.h"
#include "tidemark/memory/grow.h"
#include "tidemark/memory/size_classes.h"

#include <tidemark/error.h>
#include <tidemark/memory.h>

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace tidemark::memory {
namespace {

TEST(SizeClasses, HoldWhatTheyPromiseWithLittleWaste) {
  size_t previous = 0;
  for (int c = 0; c < kSizeClasses; ++c) {
    EXPECT_GT(class_size(c), previous);
    EXPECT_EQ(class_size(c) % kBlockUnit, 0u);
    EXPECT_GE(kClasses[c].blocks, 15u) << c;
    EXPECT_LE(kClasses[c].blocks, 512u) << c;
    previous = class_size(c);
  }
  for (size_t bytes = kSmallestBlock; bytes <= kLargestBlock; ++bytes) {
    const size_t size = class_size(class_of(bytes));
    ASSERT_GE(size, bytes);
    ASSERT_TRUE(bytes <= kSmallestBlock || class_size(class_of(bytes) - 1) < bytes) << bytes;
    ASSERT_TRUE(bytes <= 512 || (size - bytes) * 8 <= size) << bytes;
  }
}

TEST(SizeClasses, FindABlocksIndexByMultiplication) {
  for (int c = 0; c < kSizeClasses; ++c) {
    for (uint64_t i = 0; i < kClasses[c].blocks; ++i) {
      ASSERT_EQ((i * kClasses[c].size * kClasses[c].inverse) >> 32, i);
    }
  }
}

TEST(Allocate, AlignsEverySize) {
  const int64_t before = stats().tensor_bytes;
  std::vector<Buffer*> buffers;
  int64_t asked = 0;
  for (size_t bytes : {0, 1, 4, 63, 64, 65, 1000, 4096, 65408, 65409, 100000, 4 << 20, 9 << 20}) {
    Buffer* b = allocate({.bytes = bytes});
    ASSERT_NE(b->data, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(b->data) % kAlignment, 0u) << bytes;
    EXPECT_EQ(b->bytes, bytes);
    EXPECT_GE(b->charged, bytes);
    std::memset(b->data, 1, bytes);
    asked += static_cast<int64_t>(bytes);
    buffers.push_back(b);
  }
  EXPECT_EQ(stats().tensor_bytes - before, asked);
  for (Buffer* b : buffers) release(b);
  EXPECT_EQ(stats().tensor_bytes, before);
}

TEST(Allocate, KeepsTheRecords) {
  const Shape shape{2, 3, 4, 5, 6};
  ThreadContext saved = thread_context;
  thread_context.op = "MatMul";
  Buffer* b = allocate(
      {.bytes = 720 * 4, .dtype = DType::float32, .shape = &shape, .holder = Holder::gradient});
  thread_context = saved;
  EXPECT_EQ(b->rank, 5);
  EXPECT_EQ(b->dims[3], 5);
  EXPECT_STREQ(b->op, "MatMul");
  EXPECT_EQ(b->holder, Holder::gradient);
  release(b);
}

TEST(Allocate, NeverHandsOutTheSameBytesTwice) {
  std::vector<Buffer*> buffers;
  for (int i = 0; i < 5000; ++i) {
    Buffer* b = allocate({.bytes = static_cast<size_t>(i % 700)});
    std::memset(b->data, i & 0xff, b->bytes);
    buffers.push_back(b);
    if (i % 3 == 0) {
      release(buffers[static_cast<size_t>(i) / 2]);
      buffers[static_cast<size_t>(i) / 2] = nullptr;
      buffers[static_cast<size_t>(i) / 2] = allocate({.bytes = 0});
    }
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    const auto* bytes = static_cast<unsigned char*>(buffers[i]->data);
    for (size_t k = 0; k < buffers[i]->bytes; ++k) ASSERT_EQ(bytes[k], i & 0xff);
    release(buffers[i]);
  }
}

TEST(Release, WorksOnAnotherThread) {
  const int64_t before = stats().live;
  std::vector<Buffer*> buffers;
  for (size_t i = 0; i < 1000; ++i) buffers.push_back(allocate({.bytes = i * 100}));
  EXPECT_GT(stats().live, before);
  std::thread([&] {
    for (Buffer* b : buffers) release(b);
  }).join();
  EXPECT_EQ(stats().live, before);
}

TEST(Release, OfTheLastReferenceOnlyGivesBack) {
  const int64_t before = stats().live_buffers;
  Buffer* b = allocate({.bytes = 8});
  retain(b);
  release(b);
  EXPECT_EQ(stats().live_buffers, before + 1);
  release(b);
  EXPECT_EQ(stats().live_buffers, before);
}

TEST(Retained, MappingsAreUsedAgain) {
  Buffer* a = allocate({.bytes = 1 << 20});
  void* data = a->data;
  release(a);
  Buffer* b = allocate({.bytes = (1 << 20) - 50000});
  EXPECT_EQ(b->data, data);
  release(b);
  Buffer* c = allocate({.bytes = 1 << 19});  // an eighth of waste at most
  EXPECT_NE(c->data, data);
  release(c);
}

TEST(Retained, GoesBackOnRequestAndStaysWithinItsLimit) {
  const int64_t old = set_retained_limit(MiB(2));
  std::vector<Buffer*> buffers;
  for (int i = 0; i < 20; ++i) {
    buffers.push_back(allocate({.bytes = 300000}));
    std::memset(buffers.back()->data, 1, 300000);
  }
  for (Buffer* b : buffers) release(b);
  EXPECT_LE(stats().retained, MiB(2));
  EXPECT_GT(stats().retained, MiB(1));
  release_retained();
  EXPECT_LT(stats().retained, KiB(128));
  EXPECT_EQ(set_retained_limit(old), MiB(2));
}

TEST(Retained, EverNewSizesDoNotPileUp) {
  release_retained();
  Buffer* large = allocate({.bytes = 32 << 20});
  const int64_t live = stats().live;
  reset_peak();
  for (size_t size = 1 << 20; size < size_t{4} << 20; size += 300 << 10) {
    for (size_t step = 0; step < 40; ++step) {
      release(allocate({.bytes = size * (100 + 13 * step) / 100}));
    }
  }
  const int64_t highest = stats().peak;
  EXPECT_LE(stats().retained, highest + highest / 2 + (2 << 20) - live);
  release(large);
}

TEST(Retained, WhatIsNotAskedForAgainDoesNotMakeTheProcessLarger) {
  release_retained();
  reset_peak();
  const int64_t before = stats().live;
  release(allocate({.bytes = 40 << 20}));  // as reading data does
  Buffer* arena = allocate({.bytes = 30 << 20});
  EXPECT_LE(stats().live + stats().retained, before + MiB(44));
  release(arena);
}

/// Where `count` buffers that are there at the same time lie.
std::set<const void*> places_of(int count, size_t bytes) {
  std::vector<Buffer*> all;
  std::set<const void*> out;
  for (int i = 0; i < count; ++i) {
    all.push_back(allocate({.bytes = bytes}));
    out.insert(all.back()->data);
  }
  for (Buffer* one : all) release(one);
  return out;
}

TEST(Retained, SizesThatComeInTurnStay) {
  release_retained();
  reset_peak();
  // Together half as much again as is ever in use.
  const auto step = [] { return std::pair(places_of(3, 4 << 20), places_of(2, 3 << 20)); };
  for (int i = 0; i < 4; ++i) step();
  EXPECT_EQ(step(), step());
  release_retained();
}

TEST(Retained, FreePagesOfSlabsInUseGoBack) {
  const int64_t old = set_retained_limit(MiB(1));
  std::vector<Buffer*> buffers;
  for (int i = 0; i < 100000; ++i) buffers.push_back(allocate({.bytes = 64}));  // 18 MiB
  std::vector<Buffer*> survivors;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (i % 300 == 0) {
      survivors.push_back(buffers[i]);  // one in every slab
    } else {
      release(buffers[i]);
    }
  }
  EXPECT_LE(stats().retained, MiB(4));
  for (int i = 0; i < 100000; ++i) {  // the pages come back in good order
    Buffer* b = allocate({.bytes = 64});
    std::memset(b->data, 0xff, 64);
    buffers[static_cast<size_t>(i)] = b;
  }
  for (Buffer* b : buffers) release(b);
  for (Buffer* b : survivors) release(b);
  EXPECT_LE(stats().retained, MiB(1) + KiB(512));
  set_retained_limit(old);
}

TEST(Borrow, GivesBackOnceAndCountsApart) {
  static int given_back = 0;
  given_back = 0;
  float data[4] = {1, 2, 3, 4};
  const Stats before = stats();
  Buffer* b = borrow(data, [](void* owner) { ++*static_cast<int*>(owner); }, &given_back,
                     {.bytes = sizeof data, .dtype = DType::float32});
  EXPECT_EQ(b->data, data);
  EXPECT_EQ(b->holder, Holder::borrowed);
  const Stats during = stats();
  EXPECT_EQ(during.borrowed - before.borrowed, int64_t{sizeof data});
  EXPECT_EQ(during.tensor_bytes, before.tensor_bytes);
  set_holder(b, Holder::variable);
  EXPECT_EQ(stats().borrowed, during.borrowed);
  retain(b);
  release(b);
  EXPECT_EQ(given_back, 0);
  release(b);
  EXPECT_EQ(given_back, 1);
  EXPECT_EQ(stats().borrowed, before.borrowed);
  EXPECT_EQ(stats().live, before.live);
}

TEST(Borrow, GivesBackWhenItThrows) {
  int given_back = 0;
  LimitScope scope(0);
  float data = 1;
  EXPECT_THROW(
      borrow(&data, [](void* owner) { ++*static_cast<int*>(owner); }, &given_back, {.bytes = 4}),
      ResourceExhaustedError);
  EXPECT_EQ(given_back, 1);
}

TEST(Shrink, GivesTheTailOfAMappingBack) {
  const int64_t before = stats().live;
  Buffer* b = allocate({.bytes = 10 << 20});
  std::memset(b->data, 7, b->bytes);
  shrink(b, 3 << 20);
  EXPECT_EQ(b->bytes, size_t{3} << 20);
  EXPECT_EQ(stats().live - before, MiB(3) + 128);
  EXPECT_EQ(static_cast<char*>(b->data)[(3 << 20) - 1], 7);
  shrink(b, 0);
  EXPECT_EQ(stats().live - before, KiB(4) + 128);
  release(b);
  EXPECT_EQ(stats().live, before);
}

TEST(Shrink, OfASmallBufferOnlyCountsLess) {
  const Stats before = stats();
  Buffer* b = allocate({.bytes = 1000});
  shrink(b, 10);
  EXPECT_EQ(stats().tensor_bytes - before.tensor_bytes, 10);
  shrink(b, 20);  // it never grows
  EXPECT_EQ(b->bytes, 10u);
  release(b);
  EXPECT_EQ(stats().live, before.live);
}

TEST(Grow, KeepsWhatIsThereAndCountsTheRest) {
  const Stats before = stats();
  Buffer* b = allocate({.bytes = 200000});
  std::memset(b->data, 7, b->bytes);
  for (size_t bytes = 200000; bytes < (40 << 20); bytes += bytes / 3) {
    ASSERT_TRUE(grow(b, bytes));
    EXPECT_EQ(b->bytes, bytes);
    EXPECT_LE(b->charged, bytes + bytes / 16 + (2 << 20) + 128);
    EXPECT_EQ(stats().live - before.live, static_cast<int64_t>(b->charged));
    static_cast<char*>(b->data)[bytes - 1] = 1;
    EXPECT_EQ(static_cast<char*>(b->data)[199998], 7);
  }
  release(b);
  EXPECT_EQ(stats().live, before.live);
}

TEST(Grow, OfASmallBufferGoesAsFarAsItsBlock) {
  Buffer* b = allocate({.bytes = 100});
  EXPECT_TRUE(grow(b, 120));
  EXPECT_EQ(b->bytes, 120u);
  EXPECT_FALSE(grow(b, 1000));
  EXPECT_EQ(b->bytes, 120u);
  EXPECT_TRUE(grow(b, 50));  // it has more
  EXPECT_EQ(b->bytes, 120u);
  release(b);
}

TEST(Grow, StopsAtALimit) {
  const LimitScope scope(MiB(1));
  Buffer* b = allocate({.bytes = 300000});
  EXPECT_FALSE(grow(b, 2 << 20));
  EXPECT_EQ(b->bytes, 300000u);
  EXPECT_TRUE(grow(b, 600000));
  EXPECT_EQ(scope.used(), static_cast<int64_t>(b->charged));
  release(b);
}

TEST(SetHolder, MovesBytesBetweenAccounts) {
  const auto bytes_of = [](Holder h) { return holders()[static_cast<size_t>(h)].live_bytes; };
  const int64_t values = bytes_of(Holder::value);
  const int64_t variables = bytes_of(Holder::variable);
  Buffer* b = allocate({.bytes = 100000});
  const auto charged = static_cast<int64_t>(b->charged);
  EXPECT_EQ(bytes_of(Holder::value), values + charged);
  set_holder(b, Holder::variable);
  EXPECT_EQ(bytes_of(Holder::value), values);
  EXPECT_EQ(bytes_of(Holder::variable), variables + charged);
  release(b);
  EXPECT_EQ(bytes_of(Holder::variable), variables);
}

TEST(SetIdle, CountsAnArenaAsPlanned) {
  const Stats before = stats();
  Buffer* b = allocate({.bytes = 200000, .holder = Holder::arena});
  set_idle(b, true);
  set_idle(b, true);
  const auto charged = static_cast<int64_t>(b->charged);
  EXPECT_EQ(stats().planned, before.planned + charged);
  EXPECT_EQ(stats().live, before.live);
  set_idle(b, false);
  EXPECT_EQ(stats().live, before.live + charged);
  set_idle(b, true);
  release(b);
  EXPECT_EQ(stats().planned, before.planned);
}

}  // namespace
}  // namespace tidemark::memory
