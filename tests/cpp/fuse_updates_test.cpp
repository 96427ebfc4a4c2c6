// Products whose results only change variables.

#include <gtest/gtest.h>
#include <tidemark/create.h>
#include <tidemark/ops.h>
#include <tidemark/variable.h>

#include <cstdlib>
#include <cstring>
#include <functional>

#include "tidemark/base/settings.h"
#include "tidemark/base/thread_pool.h"
#include "tidemark/compile/pass.h"
#include "tidemark/exec/program.h"
#include "tidemark/kernels/cpu/fusion/product_update.h"
#include "tidemark/kernels/cpu/testing.h"
#include "tidemark/plan/graph_plan.h"
#include "tidemark/trace/builder.h"

namespace tidemark {
namespace {

/// Gradients of any size go straight into their variables.
class FuseUpdates : public ::testing::Test {
 protected:
  void SetUp() override {
    if (settings::text(settings::kFusion) == "off") GTEST_SKIP() << "nothing is fused";
    setenv("TIDEMARK_WHOLE_GRADIENTS", "0", 1);
  }
  void TearDown() override { unsetenv("TIDEMARK_WHOLE_GRADIENTS"); }
};

using Tensors = std::vector<Tensor>;

Tensor numbers(const Shape& shape, int seed) {
  const Tensor t = Tensor::uninitialized(DType::float32, shape);
  uint32_t state = static_cast<uint32_t>(seed) * 2654435761u + 1;
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    state = state * 1664525u + 1013904223u;
    t.mutable_data<float>()[i] = static_cast<float>(state >> 8) * 0x1p-23f - 1;
  }
  return t;
}

std::shared_ptr<graph::Graph> traced(const Tensors& inputs,
                                     const std::function<Tensors(const Tensors&)>& f) {
  trace::GraphBuilder builder("f");
  Tensors symbols;
  for (const Tensor& t : inputs) symbols.push_back(builder.add_input(t.dtype(), t.shape()));
  Tensors outputs;
  {
    trace::TraceScope scope(builder);
    outputs = f(symbols);
  }
  return builder.finish(outputs);
}

Tensors run(const std::shared_ptr<graph::Graph>& graph, Tensors inputs) {
  Tensors outputs(graph->outputs().size());
  exec::Program::build(*graph)->run(inputs, outputs);
  return outputs;
}

const graph::Node* find(const graph::Graph& graph, std::string_view kind) {
  for (graph::Node* node : graph.nodes()) {
    if (graph::kind_of(*node) == kind) return node;
  }
  return nullptr;
}

int count(const graph::Graph& graph, std::string_view kind) {
  int n = 0;
  for (graph::Node* node : graph.nodes()) n += graph::kind_of(*node) == kind;
  return n;
}

/// Weights, a moment of theirs, and a layer of a training step over them.
struct Layer {
  Variable w{numbers({130, 150}, 1)}, m{numbers({130, 150}, 2)};
  Tensors inputs{numbers({60, 130}, 3), numbers({60, 150}, 4)};

  /// The gradient of the input needs the old weights.
  Tensors step(const Tensors& in) {
    const Tensor g = matmul(in[0], in[1], true);
    m.assign(m.value() * 0.9f + g);
    w.assign_sub(m.value() * 0.01f);
    return {};
  }
  Tensors step_and_gradient(const Tensors& in) {
    const Tensor before = matmul(in[1], w.value(), false, true);
    step(in);
    return {before};
  }
  std::shared_ptr<graph::Graph> graph(Tensors (Layer::*step)(const Tensors&) = &Layer::step) {
    return traced(inputs, [&](const Tensors& in) { return (this->*step)(in); });
  }
};

void expect_same_bits(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.nbytes(), b.nbytes());
  EXPECT_EQ(std::memcmp(a.raw_data(), b.raw_data(), a.nbytes()), 0);
}

TEST_F(FuseUpdates, AProductGoesIntoItsVariables) {
  Layer plain, fast;
  const auto one = plain.graph();
  const auto two = compile::run_passes(fast.graph());
  const graph::Node* update = find(*two, "matmul+update");
  ASSERT_TRUE(update) << two->to_string();
  EXPECT_EQ(count(*two, "matmul"), 0);
  EXPECT_EQ(count(*two, "sweep"), 0);
  const std::string said = update->special->describe();
  EXPECT_EQ(said.find("matmul, fused("), 0u) << said;
  EXPECT_NE(said.find(") into 2 variables"), std::string::npos) << said;
  const void* lies = fast.w.value().raw_data();
  for (int round = 0; round < 3; ++round) {
    run(one, plain.inputs);
    run(two, fast.inputs);
    expect_same_bits(fast.w.value(), plain.w.value());
    expect_same_bits(fast.m.value(), plain.m.value());
  }
  EXPECT_EQ(fast.w.value().raw_data(), lies) << "written where it lies";
}

TEST_F(FuseUpdates, DoNotDependOnThreads) {
  const int before = num_threads();
  Tensors results;
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    Layer layer;
    run(compile::run_passes(layer.graph()), layer.inputs);
    results.push_back(layer.w.value());
  }
  set_num_threads(before);
  for (const Tensor& t : results) expect_same_bits(t, results[0]);
}

TEST_F(FuseUpdates, WaitForThoseWhoReadTheOldValue) {
  Layer plain, fast;
  const auto one = plain.graph(&Layer::step_and_gradient);
  const auto two = compile::run_passes(fast.graph(&Layer::step_and_gradient));
  EXPECT_EQ(count(*two, "matmul+update"), 1) << two->to_string();
  const plan::GraphPlan plan = plan::plan_graph(*two);
  size_t reads = 0, writes = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const auto kind = graph::kind_of(*plan.steps[i].node);
    if (kind == "matmul") reads = i;
    if (kind != "matmul+update") continue;
    writes = i;
    EXPECT_EQ(plan.steps[i].kind, plan::PlannedStep::Kind::computing);
    EXPECT_EQ(graph::effects_of(*plan.steps[i].node).writes.size(), 2u);
    EXPECT_GT(plan.steps[i].workspace, 0);
    // A program that goes on with whole gradients would need more.
    EXPECT_LE(plan.steps[i].workspace, plan.host().arena_bytes);
  }
  EXPECT_LT(reads, writes);
  for (int round = 0; round < 2; ++round) {
    expect_same_bits(run(two, fast.inputs)[0], run(one, plain.inputs)[0]);
    expect_same_bits(fast.w.value(), plain.w.value());
  }
}

TEST_F(FuseUpdates, WhoHoldsTheOldValueKeepsIt) {
  Layer layer;
  const auto graph = compile::run_passes(layer.graph());
  const Tensor held = layer.w.value();
  const std::vector<double> before = testing::doubles(held);
  run(graph, layer.inputs);
  EXPECT_EQ(testing::doubles(held), before);
  EXPECT_NE(testing::doubles(layer.w.value()), before);
}

/// What would be written over while the product still reads it.
TEST_F(FuseUpdates, AProductOfTheVariableItselfIsWhole) {
  const auto step = [](Variable w) {
    return [w](const Tensors&) mutable -> Tensors {
      w.assign_sub(matmul(w.value(), w.value(), true) * 0.1f);
      return {};
    };
  };
  const Variable a(numbers({90, 90}, 1)), b(numbers({90, 90}, 1));
  const auto plain = traced({}, step(a));
  const auto fast = compile::run_passes(traced({}, step(b)));
  EXPECT_EQ(count(*fast, "matmul+update"), 0) << fast->to_string();
  for (int round = 0; round < 2; ++round) {
    run(plain, {});
    run(fast, {});
    expect_same_bits(a.value(), b.value());
  }
}

TEST_F(FuseUpdates, AProductThatIsNeededElsewhereIsWhole) {
  Layer plain, fast;
  const auto step = [](Layer& layer) {
    return [&layer](const Tensors& in) -> Tensors {
      const Tensor g = matmul(in[0], in[1], true);
      layer.w.assign_sub(g * 0.01f);
      return {sum(g)};
    };
  };
  const auto one = traced(plain.inputs, step(plain));
  const auto two = compile::run_passes(traced(fast.inputs, step(fast)));
  EXPECT_EQ(count(*two, "matmul+update"), 0) << two->to_string();
  run(one, plain.inputs);
  run(two, fast.inputs);
  expect_same_bits(fast.w.value(), plain.w.value());
}

/// m changes, its new value and the old w make something, then w changes: no step can do both.
TEST_F(FuseUpdates, UpdatesOnBothSidesOfAReadingComeApart) {
  const auto step = [](Variable w, Variable m) {
    return [w, m](const Tensors& in) mutable -> Tensors {
      const Tensor g = matmul(in[0], in[1], true);
      m.assign(m.value() * 0.9f + g);
      const Tensor seen = matmul(m.value(), w.value(), false, true);
      w.assign_sub(m.value() * 0.01f + mean(seen));
      return {seen};
    };
  };
  Layer plain, fast;
  const auto one = traced(plain.inputs, step(plain.w, plain.m));
  const auto two = compile::run_passes(traced(fast.inputs, step(fast.w, fast.m)));
  for (int round = 0; round < 2; ++round) {
    const auto got = testing::doubles(run(two, fast.inputs)[0]);
    const auto want = testing::doubles(run(one, plain.inputs)[0]);
    for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-3);
  }
  const auto got = testing::doubles(fast.w.value()), want = testing::doubles(plain.w.value());
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-4);
}

}  // namespace
}  // namespace tidemark
