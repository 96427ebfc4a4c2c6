// Functions that are planned: the same results as step by step, and the memory the plan promised.
#include <gtest/gtest.h>
#include <tidemark/create.h>
#include <tidemark/function.h>
#include <tidemark/gradient.h>
#include <tidemark/memory.h>
#include <tidemark/ops.h>
#include <tidemark/random.h>

#include <thread>

#include "tidemark/base/settings.h"
#include "tidemark/exec/versions.h"
#include "tidemark/plan/graph_plan.h"
#include "tidemark/trace/builder.h"

namespace tidemark {
namespace {

struct Traced {
  std::shared_ptr<graph::Graph> graph;
  std::shared_ptr<const exec::Program> program;
};

template <class Code>
Traced trace_of(std::span<const Tensor> inputs, const Code& code) {
  trace::GraphBuilder builder("traced");
  std::vector<Tensor> symbolic;
  for (const Tensor& t : inputs) symbolic.push_back(builder.add_input(t.dtype(), t.shape()));
  std::vector<Tensor> outputs;
  {
    const trace::TraceScope scope(builder);
    outputs = code(symbolic);
  }
  Traced out{builder.finish(outputs), nullptr};
  out.program = exec::Program::build(*out.graph, exec::Compile::at_once);
  return out;
}

std::vector<Tensor> run(const exec::Program& program, std::vector<Tensor> inputs) {
  std::vector<Tensor> outputs(program.num_outputs());
  program.run(inputs, outputs);
  return outputs;
}

/// Fused functions may round otherwise by a few units in the last place.
void expect_equal(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const float x = a.data<float>()[i], y = b.data<float>()[i];
    ASSERT_NEAR(x, y, 1e-5f * (1 + std::abs(y))) << "at " << i;
  }
}

using Inputs = const std::vector<Tensor>&;

class Planned : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!settings::flag(settings::kPlan)) GTEST_SKIP() << "functions run without plans";
  }
};

TEST_F(Planned, GivesWhatStepsGive) {
  const auto code = [](Inputs x) {
    const Tensor h = tanh(matmul(x[0], x[1]) + x[2]);
    const Tensor y = reshape(h * h - exp(h), Tensor::of<int32_t>({-1}));
    return std::vector{sum(y), y, transpose(h)};
  };
  const std::vector<Tensor> inputs{random::normal({16, 8}), random::normal({8, 4}),
                                   random::normal({4})};
  const Traced traced = trace_of(inputs, code);
  const std::vector<Tensor> planned = run(*traced.program, inputs);
  ASSERT_NE(traced.program->compiled_for(inputs), nullptr);
  const std::vector<Tensor> eager = code(inputs);
  for (size_t i = 0; i < eager.size(); ++i) expect_equal(planned[i], eager[i]);
}

TEST_F(Planned, PeakIsWhatThePlanSays) {
  if (settings::bytes(settings::kPlanBudget).value_or(0) > 0) {
    GTEST_SKIP() << "the plan that is looked at has no budget, the one that runs has";
  }
  const auto code = [](Inputs x) {
    Tensor h = x[0];
    for (int i = 0; i < 6; ++i) h = matmul(tanh(h), x[1]);
    return std::vector{sum(h)};
  };
  const std::vector<Tensor> inputs{random::normal({256, 256}), random::normal({256, 256})};
  const Traced traced = trace_of(inputs, code);
  const auto graph = exec::specialise(*traced.program, inputs);
  const plan::GraphPlan plan = plan::plan_graph(*graph);
  run(*traced.program, inputs);
  run(*traced.program, inputs);
  const int64_t before = memory::stats().live;
  memory::reset_peak();
  run(*traced.program, inputs);
  const int64_t measured = memory::stats().peak - before;
  const exec::Executable* executable = traced.program->compiled_for(inputs);
  ASSERT_NE(executable, nullptr);
  EXPECT_EQ(executable->arena_bytes(), plan.host().arena_bytes);
  // The allocator counts pages and headers.
  EXPECT_GE(measured, plan.host().peak);
  EXPECT_LE(measured, plan.host().peak + 2 * 4096 + 256);
  EXPECT_LE(plan.host().arena_bytes, 2 * 256 * 256 * 4 + (1 << 20));
}

TEST_F(Planned, AllocatesNothingButResults) {
  const auto code = [](Inputs x) {
    const Tensor h = exp(matmul(x[0], x[0])) * Tensor(2.f);
    return std::vector{sum(h / (h + Tensor(1.f)))};
  };
  const std::vector<Tensor> inputs{random::normal({64, 64})};
  const Traced traced = trace_of(inputs, code);
  for (int i = 0; i < 3; ++i) run(*traced.program, inputs);
  const int64_t before = memory::stats().allocations;
  for (int i = 0; i < 100; ++i) run(*traced.program, inputs);
  EXPECT_EQ(memory::stats().allocations - before, 100);
}

TEST_F(Planned, UpdatesVariablesInPlace) {
  Variable v(zeros({1000}));
  const auto code = [&](Inputs x) {
    v.assign_add(x[0] * Tensor(2.f));
    v.assign(v * Tensor(0.5f));
    return std::vector{sum(v)};
  };
  const std::vector<Tensor> inputs{ones({1000})};
  const Traced traced = trace_of(inputs, code);
  float expected = 0;
  run(*traced.program, inputs);
  expected = (expected + 2) / 2;
  const void* where = v.operand().raw_data();
  for (int i = 0; i < 5; ++i) {
    expected = (expected + 2) / 2;
    EXPECT_FLOAT_EQ(run(*traced.program, inputs)[0].item<float>(), 1000 * expected);
    EXPECT_EQ(v.operand().raw_data(), where);
  }
}

TEST_F(Planned, ReadsBeforeAnUpdateSeeTheOldValue) {
  Variable v(Tensor::of({1.f, 2.f}));
  const auto code = [&](Inputs) {
    const Tensor before = v.value();
    v.assign_add(ones({2}));
    const Tensor after = v.value();
    v.assign(after * after);
    return std::vector{before * Tensor(10.f), after * Tensor(10.f), v.value() * Tensor(10.f)};
  };
  const Traced traced = trace_of({}, code);
  const std::vector<Tensor> first = run(*traced.program, {});
  expect_equal(first[0], Tensor::of({10.f, 20.f}));
  expect_equal(first[1], Tensor::of({20.f, 30.f}));
  expect_equal(first[2], Tensor::of({40.f, 90.f}));
  expect_equal(run(*traced.program, {})[0], Tensor::of({40.f, 90.f}));
}

TEST_F(Planned, ExpandsGradientsOnceSizesAreKnown) {
  auto gradient = function([](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(mean(square(x) * x), x);
  });
  for (const int64_t n : {4, 6, 6, 6, 8, 8, 8}) {
    const Tensor dx = gradient(ones({n}));
    ASSERT_EQ(dx.shape(), (Shape{n}));
    EXPECT_FLOAT_EQ(dx.data<float>()[0], 3.f / static_cast<float>(n));
  }
}

TEST_F(Planned, ResultsOutliveTheFunction) {
  Tensor y;
  {
    auto f = function([](Tensor x) { return reshape(tanh(x) * x, Tensor::of<int32_t>({4, 1})); });
    for (int i = 0; i < 3; ++i) y = f(Tensor::of({1.f, 2.f, 3.f, 4.f}, {2, 2}));
  }
  EXPECT_FLOAT_EQ(y.data<float>()[0], std::tanh(1.f));
}

TEST_F(Planned, ThreadsHaveAnArenaEach) {
  const auto code = [](Inputs x) { return std::vector{sum(matmul(x[0] * Tensor(2.f), x[0]))}; };
  const std::vector<Tensor> inputs{ones({64, 64})};
  const Traced traced = trace_of(inputs, code);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        wrong += run(*traced.program, inputs)[0].item<float>() != 64.f * 64 * 64 * 2;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Planned, ArenasGoWithTheLastFunctionThatNeedsThem) {
  const int64_t before = memory::stats().planned;
  {
    auto f = function([](Tensor x) { return sum(tanh(matmul(x, x))); });
    for (int i = 0; i < 3; ++i) f(ones({128, 128}));
    EXPECT_GT(memory::stats().planned, before);
  }
  EXPECT_EQ(memory::stats().planned, before);
}

TEST_F(Planned, FailuresLeaveNothingBehind) {
  auto f = function([](Tensor x, Tensor at) { return gather(tanh(x) * x, at) * Tensor(2.f); });
  const Tensor x = ones({4}), good = Tensor::of<int32_t>({1}), bad = Tensor::of<int32_t>({9});
  for (int i = 0; i < 3; ++i) f(x, good);
  const int64_t live = memory::stats().live;
  for (int i = 0; i < 100; ++i) EXPECT_THROW(f(x, bad), Error);
  EXPECT_EQ(memory::stats().live, live);
  EXPECT_FLOAT_EQ(f(x, good).item<float>(), 2 * std::tanh(1.f));
}

TEST_F(Planned, ResultsAreWrittenIntoFormerOnes) {
  auto f = function([](Tensor x) { return tanh(matmul(x, x)) * Tensor(2.f); });
  const Tensor x = random::normal({32, 32});
  Tensor y = f(x);
  const Tensor expected = f(x);
  const void* where = y.raw_data();
  const int64_t before = memory::stats().allocations;
  for (int i = 0; i < 100; ++i) f.call_into(y, x);
  EXPECT_EQ(memory::stats().allocations, before);
  EXPECT_EQ(y.raw_data(), where);
  expect_equal(y, expected);
  const Tensor held = y;  // somebody looks at it: it stays as it is
  const std::vector<float> was(held.data<float>(), held.data<float>() + 32 * 32);
  f.call_into(y, x * Tensor(0.5f));
  EXPECT_NE(y.raw_data(), where);
  EXPECT_EQ(std::vector<float>(held.data<float>(), held.data<float>() + 32 * 32), was);
  f.call_into(y, y);  // an argument that is the former result, too
  EXPECT_EQ(y.shape(), x.shape());
}

TEST_F(Planned, ResultsOfOtherSizesAndManyAreWrittenAnew) {
  auto f = function([](Tensor x) { return std::pair{x * Tensor(2.f), sum(x)}; });
  auto y = f(ones({8}));
  f.call_into(y, ones({16}));
  EXPECT_EQ(y.first.shape(), (Shape{16}));
  EXPECT_FLOAT_EQ(y.second.item<float>(), 16.f);
  auto many = function([](Tensor x) { return std::vector{x + x, x * x}; });
  std::vector<Tensor> two = many(ones({4}));
  many.call_into(two, ones({4}));
  EXPECT_FLOAT_EQ(two[0].data<float>()[3], 2.f);
  std::vector<Tensor> one(1);
  EXPECT_THROW(many.call_into(one, ones({4})), InvalidArgumentError);
}

TEST_F(Planned, WhatIsMovedInMayBecomeTheResult) {
  auto step = function([](Tensor state) { return state * Tensor(0.5f) + Tensor(1.f); });
  Tensor state = ones({1000});
  for (int i = 0; i < 3; ++i) state = step(std::move(state));
  const int64_t before = memory::stats().allocations;
  const void* where = state.raw_data();
  for (int i = 0; i < 100; ++i) state = step(std::move(state));
  EXPECT_EQ(memory::stats().allocations, before);
  EXPECT_EQ(state.raw_data(), where);
  EXPECT_NEAR(state.data<float>()[999], 2.f, 1e-5f);
  const Tensor kept = state;
  const Tensor next = step(kept);  // not moved: unchanged
  EXPECT_NEAR(kept.data<float>()[0], 2.f, 1e-5f);
  EXPECT_NE(next.raw_data(), kept.raw_data());
}

TEST(GraphPlan, NeedsNoMemoryToPlanForAnySize) {
  const int64_t huge = int64_t{1} << 30;
  trace::GraphBuilder builder("huge");
  const Tensor x = builder.add_input(DType::float32, {huge, 64});
  Tensor y;
  {
    const trace::TraceScope scope(builder);
    y = sum(tanh(x) * exp(x));
  }
  const plan::GraphPlan plan = plan::plan_graph(*builder.finish({&y, 1}));
  EXPECT_GE(plan.host().peak, huge * 64 * 4);
  EXPECT_LE(plan.host().peak, 3 * huge * 64 * 4);
}

}  // namespace
}  // namespace tidemark
