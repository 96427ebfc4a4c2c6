// Steps that passes, planner and executors have never heard of: what they say of themselves is
// enough.

#include <gtest/gtest.h>
#include <tidemark/create.h>
#include <tidemark/ops.h>
#include <tidemark/variable.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "tidemark/compile/fit_budget.h"
#include "tidemark/compile/pass.h"
#include "tidemark/exec/program.h"
#include "tidemark/graph/call_special.h"
#include "tidemark/graph/specials.h"
#include "tidemark/plan/graph_plan.h"
#include "tidemark/trace/builder.h"

namespace tidemark {
namespace {

using Tensors = std::vector<Tensor>;
constexpr uint64_t kGroup = 7;

/// Gives its input, and writes its number into a log as a call of a group of processes would go
/// over the wire.
class Exchange final : public graph::ComputingSpecial {
 public:
  Exchange(int number, graph::Effects effects, Ints* log)
      : number_(number), effects_(effects), log_(log) {}
  std::string_view name() const override { return "exchange"; }
  graph::Effects effects() const override { return effects_; }
  bool may_write_into(size_t, size_t) const override { return true; }
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override {
    outputs[0] = inputs[0];
    log_->push_back(number_);
  }
  void compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               void* /*workspace*/) const override {
    std::memmove(outputs[0].mutable_raw_data(), inputs[0].raw_data(), inputs[0].nbytes());
    log_->push_back(number_);
  }

 private:
  bool equals(const Special& other) const override {
    return static_cast<const Exchange&>(other).number_ == number_;
  }

  int number_;
  graph::Effects effects_;
  Ints* log_;
};

/// Adds one to a variable by ways of its own.
class Bump final : public graph::Special {
 public:
  explicit Bump(Variable variable) : variable_(std::move(variable)) {}
  std::string_view name() const override { return "bump"; }
  graph::Effects effects() const override { return {.writes = {&variable_, 1}, .must_run = true}; }
  void run(std::span<Tensor>, std::span<Tensor>) const override {
    Variable(variable_).assign(variable_.value() + Tensor(1.f));
  }

 private:
  Variable variable_;
};

constexpr graph::Effects kInGroup{.token = kGroup, .must_run = true};

Tensor exchanged(const Tensor& t, int number, Ints* log, graph::Effects effects = kInGroup) {
  const graph::OutputInfo info{t.dtype(), t.shape()};
  Tensor in = t, out;
  graph::call_special(std::make_shared<const Exchange>(number, effects, log), {&info, 1}, {&in, 1},
                      {&out, 1});
  return out;
}

std::shared_ptr<graph::Graph> traced(const Shape& shape,
                                     const std::function<Tensors(const Tensor&)>& f) {
  trace::GraphBuilder builder("f");
  const Tensor x = builder.add_input(DType::float32, shape);
  Tensors outputs;
  {
    trace::TraceScope scope(builder);
    outputs = f(x);
  }
  return builder.finish(outputs);
}

int count(const graph::Graph& graph, std::string_view kind) {
  int n = 0;
  for (graph::Node* node : graph.nodes()) n += graph::kind_of(*node) == kind;
  return n;
}

Tensors run_twice(const graph::Graph& graph, const Tensor& x) {
  const auto program = exec::Program::build(graph, exec::Compile::at_once);
  Tensors outputs(graph.outputs().size());
  for (int i = 0; i < 2; ++i) {
    Tensors inputs{x};
    program->run(inputs, outputs);
  }
  return outputs;
}

TEST(MadeUpStep, IsNotSharedWithItsEqual) {
  Ints log;
  const auto graph_with = [&](graph::Effects effects) {
    return compile::share_equal(traced({8}, [&](const Tensor& x) -> Tensors {
      return {exchanged(x, 1, &log, effects), exchanged(x, 1, &log, effects)};
    }));
  };
  EXPECT_EQ(count(*graph_with(kInGroup), "exchange"), 2);
  EXPECT_EQ(count(*graph_with({}), "exchange"), 1);
}

TEST(MadeUpStep, RunsThoughNobodyLooks) {
  Ints log;
  const auto graph_with = [&](graph::Effects effects) {
    return compile::run_passes(traced({8}, [&](const Tensor& x) -> Tensors {
      exchanged(x * x, 1, &log, effects);
      return {x + x};
    }));
  };
  EXPECT_EQ(count(*graph_with(kInGroup), "exchange"), 1);
  EXPECT_EQ(count(*graph_with({}), "exchange"), 0);
}

/// The first exchange makes a large result; without an order the others, which pass large values
/// by, would come before it, while little is in memory.
std::shared_ptr<graph::Graph> result_then_others(Ints* log, graph::Effects effects) {
  return traced({64}, [=](const Tensor& x) -> Tensors {
    Tensors results;
    for (int i = 0; i < 4; ++i) {
      const Tensor large = cumsum(tile(x, Tensor::of<int64_t>({4096 + i})));
      const Tensor made = exchanged(large, i, log, effects);
      results.push_back(i == 0 ? made : sum(cumsum(made)));
    }
    return results;
  });
}

TEST(MadeUpStep, StaysInOrderInAPlan) {
  Ints log;
  const auto planned_order = [&](graph::Effects effects) {
    const auto graph = compile::run_passes(result_then_others(&log, effects));
    const plan::GraphPlan plan = plan::plan_graph(*graph);
    std::vector<uint64_t> order;
    for (const plan::PlannedStep& step : plan.steps) {
      if (graph::kind_of(*step.node) != "exchange") continue;
      EXPECT_EQ(step.kind, plan::PlannedStep::Kind::computing);
      order.push_back(step.node->sequence);
    }
    EXPECT_EQ(order.size(), 4u);
    return order;
  };
  const auto in_group = planned_order(kInGroup), free = planned_order({});
  EXPECT_TRUE(std::is_sorted(in_group.begin(), in_group.end()));
  EXPECT_FALSE(std::is_sorted(free.begin(), free.end()));
}

TEST(MadeUpStep, LiesInTheArenaAndIsWrittenInPlace) {
  Ints log;
  const auto graph = compile::run_passes(result_then_others(&log, kInGroup));
  const plan::GraphPlan plan = plan::plan_graph(*graph);
  int in_arena = 0;
  for (const plan::PlannedValue& value : plan.values) {
    if (graph::kind_of(*value.node) != "exchange") continue;
    in_arena += value.place == plan::Place::arena;
    EXPECT_NE(value.takes_over, plan::kNone);
  }
  EXPECT_EQ(in_arena, 3);
}

TEST(MadeUpStep, RunsInOrder) {
  Ints log;
  run_twice(*result_then_others(&log, kInGroup), ones({64}));
  EXPECT_EQ(log, (Ints{0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST(MadeUpStep, IsNotRepeatedToFitABudget) {
  Ints log;
  // Needed at the beginning and at the end, and in the way of what is large in between.
  const auto exchanges_within = [&](int64_t budget, graph::Effects effects) {
    const auto graph = traced({64 << 10}, [&](const Tensor& x) -> Tensors {
      const Tensor kept = exchanged(x, 1, &log, effects);
      const Tensor early = max(kept);
      Tensor y = tile(x * early, Tensor::of<int64_t>({4}));
      y = cumsum(y);
      return {sum(cumsum(kept) * max(y))};
    });
    return count(*compile::fit_budget(graph, budget).graph, "exchange");
  };
  EXPECT_EQ(exchanges_within(1 << 30, {}), 1);
  EXPECT_EQ(exchanges_within(1, {}), 2);
  EXPECT_EQ(exchanges_within(1, kInGroup), 1);
}

TEST(MadeUpStep, ChangesItsVariableBetweenReadings) {
  for (const bool compiled : {false, true}) {
    Variable v(zeros({4}), {.name = "v"});
    auto graph = traced({4}, [&](const Tensor& x) -> Tensors {
      const Tensor before = v.operand() + x;
      graph::call_special(std::make_shared<const Bump>(v), {}, {}, {});
      const Tensor after = v.operand() + x;
      v.assign_add(x);
      return {before, after, v.operand() + x};
    });
    if (compiled) graph = compile::run_passes(graph);
    EXPECT_EQ(count(*graph, "bump"), 1);
    Tensors inputs{full({4}, Tensor(10.f))}, outputs(3);
    exec::Program::build(*graph)->run(inputs, outputs);
    EXPECT_EQ(outputs[0].data<float>()[3], 10.f);
    EXPECT_EQ(outputs[1].data<float>()[3], 11.f);
    EXPECT_EQ(outputs[2].data<float>()[3], 21.f);
  }
}

}  // namespace
}  // namespace tidemark
