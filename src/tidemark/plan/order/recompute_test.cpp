#include "tidemark/plan/order/recompute.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "tidemark/plan/order/load.h"

namespace tidemark::plan {
namespace {

/// n ops forward, each used again on the way back, as in a backward pass.
Problem chain(int n, int64_t bytes) {
  Problem p;
  p.values.push_back({.bytes = bytes, .external = true});
  for (int i = 0; i < n; ++i) {
    p.values.push_back({.bytes = bytes});
    p.ops.push_back({.inputs = {i}, .outputs = {i + 1}});
  }
  int gradient = n;
  for (int i = n; i-- > 0;) {
    const int next = static_cast<int>(p.values.size());
    p.values.push_back({.bytes = bytes, .kept = i == 0});
    p.ops.push_back({.inputs = {i, gradient}, .outputs = {next}});
    gradient = next;
  }
  return p;
}

std::vector<int> as_listed(const Problem& p) {
  std::vector<int> order(p.ops.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

TEST(Recompute, LeavesAloneWhatFits) {
  const Problem p = chain(5, 100);
  const Recomputation r =
      recompute(p, as_listed(p), std::vector<OpCost>(p.ops.size(), {1, true}), 1 << 20);
  EXPECT_TRUE(r.fits);
  EXPECT_EQ(r.repeated, 0);
  EXPECT_EQ(r.problem.ops.size(), p.ops.size());
}

TEST(Recompute, TradesTimeForMemory) {
  const Problem p = chain(32, 100);
  const std::vector<OpCost> costs(p.ops.size(), {1, true});
  const Recomputation free = recompute(p, as_listed(p), costs, 1 << 30);
  EXPECT_GE(free.peak, 3200);
  for (const int64_t budget : {2500, 1800, 1300}) {
    const Recomputation r = recompute(p, as_listed(p), costs, budget);
    EXPECT_TRUE(r.fits) << budget;
    EXPECT_LE(r.peak, budget);
    EXPECT_GT(r.repeated, 0);
    EXPECT_LE(r.added_seconds, r.given_seconds);
    const Storages storages = find_storages(r.problem);
    EXPECT_EQ(loads_of(r.problem, storages, as_listed(r.problem)).peak, r.peak);
  }
}

TEST(Recompute, TakesTheCheapOnesFirst) {
  const Problem p = chain(16, 100);
  std::vector<OpCost> costs(p.ops.size(), {100, true});
  for (size_t i = 0; i < 16; i += 2) costs[i].seconds = 0.01;
  const Recomputation r = recompute(p, as_listed(p), costs, 1300);
  EXPECT_TRUE(r.fits);
  EXPECT_LT(r.added_seconds, 100);
}

TEST(Recompute, NeverRepeatsWhatMustNotBe) {
  const Problem p = chain(16, 100);
  std::vector<OpCost> costs(p.ops.size(), {1, false});
  const Recomputation r = recompute(p, as_listed(p), costs, 800);
  EXPECT_FALSE(r.fits);
  EXPECT_EQ(r.repeated, 0);
}

TEST(Recompute, NeverReadsAVariableAfterItsUpdate) {
  // Value 0 is a variable that op 2 updates; op 0 reads it and is needed again by op 4.
  Problem p;
  p.values = {{.bytes = 8, .external = true},
              {.bytes = 100},
              {.bytes = 100},
              {.bytes = 500},
              {.bytes = 100},
              {.bytes = 4, .kept = true}};
  p.ops = {{.inputs = {0}, .outputs = {1}},
           {.inputs = {1}, .outputs = {2}},
           {.inputs = {2}},
           {.inputs = {2}, .outputs = {3}},
           {.inputs = {3}, .outputs = {4}},
           {.inputs = {1, 4}, .outputs = {5}}};
  const std::vector<OpCost> costs(p.ops.size(), {1, true});
  RecomputeOptions options;
  EXPECT_TRUE(recompute(p, as_listed(p), costs, 650, options).fits);
  options.valid_until.assign(p.values.size(), kNone);
  options.valid_until[0] = 2;
  EXPECT_FALSE(recompute(p, as_listed(p), costs, 650, options).fits);
}

TEST(Recompute, ABudgetOutOfReachGivesTheLowestPeakThatAnotherBudgetReaches) {
  const Problem p = chain(32, 100);
  const std::vector<OpCost> costs(p.ops.size(), {1, true});
  const Recomputation lowest = recompute(p, as_listed(p), costs, 1);
  EXPECT_FALSE(lowest.fits);
  int64_t reached = 1 << 30;
  for (int64_t budget = 3400; budget >= 300; budget -= 100) {
    const Recomputation r = recompute(p, as_listed(p), costs, budget);
    if (r.fits) reached = std::min(reached, r.peak);
  }
  EXPECT_LE(lowest.peak, reached + 100);
}

TEST(Recompute, RandomProgramsStayPrograms) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Problem p;
    const int n = 5 + static_cast<int>(random() % 40);
    p.values.push_back({.bytes = 64, .external = true});
    for (int i = 0; i < n; ++i) {
      Op op;
      for (int k = 0; k < 1 + static_cast<int>(random() % 2); ++k) {
        op.inputs.push_back(static_cast<int>(random() % p.values.size()));
      }
      op.outputs = {static_cast<int>(p.values.size())};
      Value value{.bytes = 64 * (1 + static_cast<int64_t>(random() % 8))};
      if (random() % 5 == 0) {
        value.view_of = op.inputs[0];
        value.bytes = p.values[static_cast<size_t>(op.inputs[0])].bytes;
      }
      value.kept = i + 1 == n;
      p.values.push_back(value);
      p.ops.push_back(op);
    }
    std::vector<OpCost> costs;
    for (int i = 0; i < n; ++i) costs.push_back({1.0, random() % 4 != 0});
    const Recomputation all = recompute(p, as_listed(p), costs, int64_t{1} << 40);
    const Recomputation r = recompute(p, as_listed(p), costs, all.peak * 6 / 10);
    const Storages storages = find_storages(r.problem);  // throws where it cannot run
    EXPECT_TRUE(is_order(storages, as_listed(r.problem)));
    EXPECT_LE(r.peak, all.peak);
    EXPECT_EQ(r.op_of.size(), r.problem.ops.size());
    for (size_t i = 0; i < r.problem.ops.size(); ++i) {
      const Op &now = r.problem.ops[i], &was = p.ops[static_cast<size_t>(r.op_of[i])];
      ASSERT_EQ(now.inputs.size(), was.inputs.size());
      for (size_t k = 0; k < now.inputs.size(); ++k) {
        EXPECT_EQ(r.value_of[static_cast<size_t>(now.inputs[k])], was.inputs[k]);
      }
    }
  }
}

}  // namespace
}  // namespace tidemark::plan
