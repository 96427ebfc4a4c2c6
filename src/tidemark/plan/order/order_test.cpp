#include "tidemark/plan/order/order.h"

#include <gtest/gtest.h>
#include <tidemark/error.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>

#include "tidemark/plan/order/check_reads.h"
#include "tidemark/plan/order/lifetimes.h"
#include "tidemark/plan/order/load.h"
#include "tidemark/plan/pack/check.h"
#include "tidemark/plan/pack/offsets.h"

namespace tidemark::plan {
namespace {

/// Values of few sizes, so that takeovers happen; views, kept and external values, extra edges.
Problem random_problem(std::mt19937& random, int ops) {
  Problem problem;
  const auto chance = [&](int percent) { return static_cast<int>(random() % 100) < percent; };
  const auto some_value = [&] { return static_cast<int>(random() % problem.values.size()); };
  for (size_t n = 1 + random() % 3; n > 0; --n) {
    problem.values.push_back({.bytes = static_cast<int64_t>(random() % 4) * 8,
                              .kept = chance(10),
                              .external = chance(40)});
  }
  for (int i = 0; i < ops; ++i) {
    Op op;
    for (size_t n = random() % 3; n > 0; --n) op.inputs.push_back(some_value());
    if (chance(25)) op.workspace = static_cast<int64_t>(random() % 40);
    if (i > 0 && chance(15)) op.after.push_back(static_cast<int>(random() % i));
    const auto output = static_cast<int>(problem.values.size());
    Value value{.bytes = static_cast<int64_t>(random() % 4) * 8, .kept = chance(15)};
    if (!op.inputs.empty() && chance(20)) {
      value.view_of = op.inputs[0];
      value.bytes = std::min(value.bytes, problem.values[value.view_of].bytes);
    } else if (!op.inputs.empty() && chance(60)) {
      op.in_place.emplace_back(output, op.inputs[random() % op.inputs.size()]);
    }
    op.outputs.push_back(output);
    problem.values.push_back(value);
    if (chance(15)) {
      op.outputs.push_back(output + 1);
      problem.values.push_back({.bytes = 16});
      if (!op.inputs.empty()) op.in_place.emplace_back(output + 1, op.inputs[0]);
    }
    problem.ops.push_back(std::move(op));
  }
  return problem;
}

std::vector<int> given_order(const Problem& problem) {
  std::vector<int> order(problem.ops.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// Bytes alive in each step, added up from the live ranges.
std::vector<int64_t> loads_of_ranges(const Lifetimes& lifetimes, size_t steps) {
  std::vector<int64_t> loads(steps, 0);
  for (const LiveRange& b : lifetimes.ranges) {
    for (int64_t t = b.lower; t < b.upper; ++t) loads[t] += b.size;
  }
  return loads;
}

Placement placed(const Problem& problem, const Lifetimes& lifetimes, const Packing& packing) {
  Placement placement;
  const auto offset = [&](int range) { return range == kNone ? 0 : packing.offsets[range]; };
  for (const int range : lifetimes.of_value) placement.value_offsets.push_back(offset(range));
  for (const int b : lifetimes.workspace_of_op) placement.workspace_offsets.push_back(offset(b));
  EXPECT_EQ(placement.value_offsets.size(), problem.values.size());
  return placement;
}

/// Plans the whole problem; the checkers look at everything.
OrderResult planned(const Problem& problem, const OrderOptions& options = {}) {
  const OrderResult result = find_order(problem, options);
  EXPECT_LE(result.peak, result.given_peak);
  EXPECT_LE(result.lower_bound, result.peak);
  const Lifetimes lifetimes = find_lifetimes(problem, result.order);
  EXPECT_EQ(loads_of_ranges(lifetimes, problem.ops.size()), result.loads);
  const Packing packing = pack(lifetimes.ranges, {.seconds = 10, .node_cap = 1000});
  EXPECT_EQ(find_fault(lifetimes.ranges, packing.offsets, packing.peak), std::nullopt);
  EXPECT_EQ(packing.lower_bound, result.peak);
  EXPECT_EQ(find_stale_read(problem, result.order, placed(problem, lifetimes, packing)),
            std::nullopt);
  return result;
}

/// Two branches, each large inside and small at its end; breadth first both are large at once.
Problem two_branches() {
  Problem problem;
  problem.values = {{.bytes = 1000}, {.bytes = 1000}, {.bytes = 10}, {.bytes = 10}, {.bytes = 1}};
  problem.values[4].kept = true;
  problem.ops = {{.outputs = {0}},
                 {.outputs = {1}},
                 {.inputs = {0}, .outputs = {2}},
                 {.inputs = {1}, .outputs = {3}},
                 {.inputs = {2, 3}, .outputs = {4}}};
  return problem;
}

TEST(FindOrder, FinishesOneBranchBeforeTheNext) {
  const OrderResult result = planned(two_branches());
  EXPECT_EQ(result.given_peak, 2010);
  EXPECT_EQ(result.peak, 1020);
  EXPECT_TRUE(result.is_optimal);
}

TEST(FindOrder, OfNothingIsNothing) {
  const OrderResult result = planned({});
  EXPECT_EQ(result.peak, 0);
  EXPECT_TRUE(result.order.empty());
}

TEST(FindOrder, ReachesTheLowestPeakOfSmallPrograms) {
  std::mt19937 random(21);
  for (int i = 0; i < 1500; ++i) {
    const Problem problem = random_problem(random, 1 + i % 9);
    const OrderResult result = planned(problem, {.seconds = 60});
    ASSERT_EQ(result.peak, lowest_order_peak(problem)) << "case " << i;
    ASSERT_TRUE(result.is_optimal) << "case " << i;
  }
}

TEST(FindOrder, IsNeverWorseThanTheGivenOrderHoweverLittleItMayTry) {
  std::mt19937 random(22);
  for (int i = 0; i < 100; ++i) {
    planned(random_problem(random, 60), {.seconds = 60, .step_cap = i * 20});
  }
}

TEST(FindOrder, DependsOnTheStepCapAlone) {
  std::mt19937 random(23);
  for (int i = 0; i < 10; ++i) {
    const Problem problem = random_problem(random, 100);
    const OrderOptions options{.seconds = 60, .step_cap = 20'000};
    EXPECT_EQ(find_order(problem, options).order, find_order(problem, options).order);
  }
}

/// A chain forward whose values are all read again backward, each step with its own small result
/// that only the end needs: a training step.
Problem training_like(int layers) {
  Problem problem;
  const auto value = [&](int64_t bytes, bool kept = false) {
    problem.values.push_back({.bytes = bytes, .kept = kept});
    return static_cast<int>(problem.values.size()) - 1;
  };
  std::vector<int> forward{value(4096)};
  for (int i = 0; i < layers; ++i) {
    forward.push_back(value(4096));
    problem.ops.push_back({.inputs = {forward[i]}, .outputs = {forward[i + 1]}});
  }
  int gradient = value(4096);
  problem.ops.push_back({.inputs = {forward.back()}, .outputs = {gradient}});
  std::vector<int> weights;
  for (int i = layers - 1; i >= 0; --i) {
    const int next = value(4096);
    problem.ops.push_back({.inputs = {gradient, forward[i]}, .outputs = {next}, .workspace = 512});
    weights.push_back(value(4096));
    problem.ops.push_back({.inputs = {gradient, forward[i]}, .outputs = {weights.back()}});
    gradient = next;
  }
  for (const int weight : weights) {
    const int updated = value(64, true);
    problem.ops.push_back({.inputs = {weight}, .outputs = {updated}});
  }
  return problem;
}

TEST(FindOrder, UpdatesWeightsAsTheirGradientsCome) {
  const OrderResult result = planned(training_like(30));
  EXPECT_LT(result.peak, 40 * 4096);
  EXPECT_GT(result.given_peak, 60 * 4096 / 2);
  EXPECT_LE(static_cast<double>(result.peak), 1.1 * static_cast<double>(result.lower_bound));
}

TEST(FindOrder, KeepsToItsTime) {
  const Problem problem = training_like(1500);
  const auto start = std::chrono::steady_clock::now();
  const OrderResult result = find_order(problem, {.seconds = 0.1});
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_LT(taken.count(), 10);
  EXPECT_LT(result.peak, result.given_peak);
}

TEST(FindLifetimes, MergesViewsAndTakeovers) {
  Problem problem;
  problem.values = {{.bytes = 64}, {.bytes = 64, .view_of = 0}, {.bytes = 64}, {.bytes = 8}};
  problem.values[3].kept = true;
  problem.ops = {{.outputs = {0}},
                 {.inputs = {0}, .outputs = {1}},
                 {.inputs = {1}, .outputs = {2}, .in_place = {{2, 1}}},
                 {.inputs = {2}, .outputs = {3}, .workspace = 16}};
  const Lifetimes lifetimes = find_lifetimes(problem, given_order(problem), 64);
  ASSERT_EQ(lifetimes.ranges.size(), 3u);
  EXPECT_EQ(lifetimes.of_value, (std::vector<int>{0, 0, 0, 1}));
  EXPECT_EQ(lifetimes.ranges[0].lower, 0);
  EXPECT_EQ(lifetimes.ranges[0].upper, 4);
  EXPECT_EQ(lifetimes.ranges[0].alignment, 64);
  EXPECT_EQ(lifetimes.workspace_of_op, (std::vector<int>{kNone, kNone, kNone, 2}));
  ASSERT_EQ(lifetimes.takeovers.size(), 1u);
  EXPECT_EQ(lifetimes.takeovers[0].op, 2);
}

TEST(FindLifetimes, LeavesExternalAndKeptValuesAlone) {
  Problem problem;
  problem.values = {{.bytes = 64, .external = true}, {.bytes = 64}, {.bytes = 64}};
  problem.values[1].kept = true;
  problem.ops = {{.inputs = {0}, .outputs = {1}, .in_place = {{1, 0}}},
                 {.inputs = {1}, .outputs = {2}, .in_place = {{2, 1}}}};
  const Lifetimes lifetimes = find_lifetimes(problem, given_order(problem));
  EXPECT_TRUE(lifetimes.takeovers.empty());
  EXPECT_EQ(lifetimes.of_value, (std::vector<int>{kNone, 0, 1}));
}

TEST(FindStorages, RefusesWhatIsNoProgram) {
  const auto refused = [](Problem problem) {
    EXPECT_THROW(find_storages(problem), InvalidArgumentError);
  };
  refused({.values = {{.bytes = -1}}, .ops = {}});
  refused({.values = {{.bytes = INT64_MAX}}, .ops = {}});
  refused({.values = {{.view_of = 1}}, .ops = {}});
  refused({.values = {{.view_of = 1}, {.view_of = 0}}, .ops = {}});
  refused({.values = {{}}, .ops = {{.inputs = {1}}}});
  refused({.values = {{}}, .ops = {{.inputs = {-1}}}});
  refused({.values = {{}}, .ops = {{.outputs = {0}}, {.outputs = {0}}}});
  refused({.values = {{}}, .ops = {{.inputs = {0}}, {.outputs = {0}}}});
  refused({.values = {{}}, .ops = {{.after = {0}}}});
  refused({.values = {}, .ops = {{.workspace = -1}}});
  EXPECT_THROW(find_lifetimes(two_branches(), {0, 2, 1, 3}), InvalidArgumentError);
  EXPECT_THROW(find_lifetimes(two_branches(), {2, 0, 1, 3, 4}), InvalidArgumentError);
}

TEST(FindStaleRead, SeesWhatWasWrittenOver) {
  Problem problem = two_branches();
  const auto fault = [&](std::vector<int64_t> offsets) {
    return find_stale_read(problem, given_order(problem), {offsets, {0, 0, 0, 0, 0}});
  };
  EXPECT_EQ(fault({0, 1000, 2000, 0, 10}), std::nullopt);
  EXPECT_NE(fault({0, 500, 2000, 0, 10}), std::nullopt);     // 1 on 0, which is read later
  EXPECT_NE(fault({0, 1000, 0, 2000, 2010}), std::nullopt);  // an output on its input
  problem.ops[2].in_place = {{2, 0}};
  EXPECT_EQ(fault({0, 1000, 0, 2000, 2010}), std::nullopt);
  problem.ops[2].workspace = 4;
  EXPECT_NE(fault({0, 1000, 2000, 10, 30}), std::nullopt);  // the workspace on an input
}

}  // namespace
}  // namespace tidemark::plan
