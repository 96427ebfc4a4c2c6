#include "tidemark/kernels/cpu/primitive_cache.h"

#include <gtest/gtest.h>

namespace tidemark::cpu {
namespace {

struct Counted {
  explicit Counted(int& a) : alive(a) { ++alive; }
  ~Counted() { --alive; }
  int& alive;
};
using Cache = PrimitiveCache<int, Counted, std::hash<int>, std::equal_to<int>>;

struct Fixture {
  int alive = 0, made = 0;
  Cache cache{"test primitives", 100};

  void ask(int shape) {
    cache.get(
        shape,
        [&] {
          ++made;
          return std::make_shared<const Counted>(alive);
        },
        [](const Counted*) { return int64_t{10}; });
  }
  memory::CacheUse use() const {
    for (const memory::CacheUse& use : memory::cache_uses()) {
      if (use.name == "test primitives") return use;
    }
    return {};
  }
};

TEST(PrimitiveCache, EverNewShapesKeepAHandful) {
  Fixture f;
  for (int shape = 0; shape < 1000; ++shape) {
    f.ask(shape);
    f.ask(shape);  // one op asks twice
    ASSERT_LE(f.alive, 2);
  }
  EXPECT_EQ(f.made, 1000);
  EXPECT_EQ(f.use().bytes, 10 * f.alive);
  EXPECT_EQ(f.use().misses, 1000);
  EXPECT_EQ(f.use().evictions, 998);
}

TEST(PrimitiveCache, WhatIsMadeForRunsIsThereForThemWithinTheBound) {
  Fixture f;
  {
    const MakingForRuns for_runs;
    for (int shape = 0; shape < 9; ++shape) f.ask(shape);
  }
  for (int shape = 0; shape < 9; ++shape) f.ask(shape);
  EXPECT_EQ(f.made, 9);
  {
    const MakingForRuns for_runs;
    for (int shape = 100; shape < 200; ++shape) f.ask(shape);
  }
  EXPECT_LE(f.alive, 10);
  f.ask(300);
  f.ask(301);
  f.ask(302);
  EXPECT_LE(f.alive, 12) << "what is new elsewhere has few places still";
}

TEST(PrimitiveCache, ShapesThatComeAgainStayWithinTheBound) {
  Fixture f;
  for (int step = 0; step < 3; ++step) {
    for (int shape = 0; shape < 9; ++shape) f.ask(shape);
  }
  const int made = f.made;
  for (int step = 0; step < 5; ++step) {
    for (int shape = 0; shape < 9; ++shape) f.ask(shape);
  }
  EXPECT_EQ(f.made, made);
  for (int step = 0; step < 5; ++step) {
    for (int shape = 0; shape < 50; ++shape) {
      f.ask(shape);
      ASSERT_LE(f.alive, 10);
    }
  }
  EXPECT_LE(f.use().bytes, f.use().capacity);
}

TEST(PrimitiveCache, KeepsThatALibraryHasNothing) {
  Fixture f;
  int asked = 0;
  for (int i = 0; i < 3; ++i) {
    const auto made = f.cache.get(
        7,
        [&] {
          ++asked;
          return std::shared_ptr<const Counted>();
        },
        [](const Counted*) { return int64_t{0}; });
    EXPECT_EQ(made, nullptr);
  }
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace tidemark::cpu
