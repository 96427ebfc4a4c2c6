#include "tidemark/trace/builder.h"

#include <gtest/gtest.h>
#include <tidemark/create.h>
#include <tidemark/gradient.h>
#include <tidemark/ops.h>

#include <thread>

#include "tidemark/exec/program.h"
#include "tidemark/graph/call_special.h"
#include "tidemark/trace/infer.h"
#include "tidemark/trace/specials.h"
#include "tidemark/trace/thread_place.h"

namespace tidemark::trace {
namespace {

std::vector<Tensor> run(const std::shared_ptr<graph::Graph>& graph, std::vector<Tensor> inputs) {
  std::vector<Tensor> outputs(graph->outputs().size());
  exec::Program::build(*graph)->run(inputs, outputs);
  return outputs;
}

/// while (i < n) { i += 1; x *= v }: a loop over a variable read inside.
Tensor power(const Tensor& x, const Variable& v, int32_t n) {
  std::vector<Tensor> inputs{Tensor(int32_t{0}), x, Tensor(int64_t{-1})};
  GraphBuilder condition("condition"), body("body");
  Tensor more, next_i, next_x;
  {
    const Tensor i = condition.add_input(DType::int32, {});
    condition.add_input(x.dtype(), x.shape());
    TraceScope scope(condition);
    more = less(i, Tensor(n));
  }
  {
    const Tensor i = body.add_input(DType::int32, {});
    const Tensor value = body.add_input(x.dtype(), x.shape());
    TraceScope scope(body);
    next_i = i + Tensor(int32_t{1});
    next_x = value * v;
  }
  Body first = finish_body(condition, std::vector{more}, inputs);
  Body second = finish_body(body, std::vector{next_i, next_x}, inputs);
  const auto loop = std::make_shared<WhileLoop>(std::move(first), std::move(second), 2);
  std::vector<Tensor> outputs(2);
  const std::vector<graph::OutputInfo> infos{{DType::int32, {}}, {x.dtype(), x.shape()}};
  graph::call_special(loop, infos, inputs, outputs);
  return outputs[1];
}

TEST(GraphBuilder, RunsWhatWasTraced) {
  GraphBuilder builder("step");
  const Tensor x = builder.add_input(DType::float32, {2, kUnknownDim});
  Tensor y;
  {
    TraceScope scope(builder);
    y = sum(tanh(x) * x, Ints{1});
  }
  EXPECT_EQ(y.shape(), Shape{2});
  const auto graph = builder.finish({&y, 1});
  EXPECT_EQ(graph->nodes().size(), 4u);
  const Tensor in = Tensor::of({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3});
  const Tensor expected = sum(tanh(in) * in, Ints{1});
  const std::vector<Tensor> got = run(graph, {in});
  EXPECT_EQ(got[0].to_string(), expected.to_string());
}

TEST(GraphBuilder, TellsRefusedSizesFromRefusedImaginedOnes) {
  GraphBuilder builder("refused");
  const Tensor open = builder.add_input(DType::float32, {kUnknownDim, 7});
  const Tensor known = builder.add_input(DType::float32, {2, 1});
  const Tensor right = builder.add_input(DType::float32, {1, 1});
  TraceScope scope(builder);
  EXPECT_THROW(call("tridiagonal_solve", {open, right}), ImaginedSizesError);
  try {
    call("tridiagonal_solve", {known, right});
    FAIL() << "there have to be three diagonals";
  } catch (const InvalidArgumentError& error) {
    EXPECT_EQ(dynamic_cast<const ImaginedSizesError*>(&error), nullptr);
  }
}

TEST(GraphBuilder, FindsSizesThatAnOpWants) {
  GraphBuilder builder("found");
  const Tensor open = builder.add_input(DType::float32, {kUnknownDim, 1});
  const Tensor right = builder.add_input(DType::float32, {1, 1});
  TraceScope scope(builder);
  EXPECT_EQ(call("tridiagonal_solve", {open, right}).shape(), (Shape{1, 1}));
}

TEST(GraphBuilder, KnowsOfUnknownRanksWhatHoldsForAllThatAnOpTakes) {
  GraphBuilder builder("ranks");
  const Tensor any = builder.add_input(DType::float32, Shape::unknown());
  const Tensor sizes = builder.add_input(DType::int32, {kUnknownDim});
  const Tensor known = builder.add_input(DType::float32, {2, 2});
  TraceScope scope(builder);
  EXPECT_EQ(call("matmul", {any, any}).shape(), Shape::unknown());
  EXPECT_EQ(call("shape", {any}).shape(), Shape{kUnknownDim});
  EXPECT_EQ(call("one_hot", {call("rank", {any}), 3, 1.f, 0.f}).shape(), Shape{3});
  EXPECT_EQ(call("reshape", {known, sizes}).shape(), Shape::unknown());
}

TEST(GraphBuilder, KnowsSizesThatFollowFromUnknownOnes) {
  GraphBuilder builder("sizes");
  const Tensor x = builder.add_input(DType::float32, {kUnknownDim, 4});
  TraceScope scope(builder);
  const Tensor flat = call("reshape", {x, Tensor::of({-1})});
  EXPECT_EQ(flat.shape(), Shape{kUnknownDim});
  const Tensor size = call("shape", {x});
  const Tensor rows =
      call("strided_slice", {size, Tensor::of({0}), Tensor::of({1}), Tensor::of({1})});
  const Tensor folded = call(
      "reshape", {x, call_all("concat", std::vector{rows, Tensor::of({2, 2})}, {{"axis", 0}})[0]});
  EXPECT_EQ(folded.shape(), (Shape{kUnknownDim, 2, 2}));
  EXPECT_EQ((x + Tensor::of({1.f, 2.f, 3.f, 4.f})).shape(), (Shape{kUnknownDim, 4}));
  const Tensor other = builder.add_input(DType::float32, {kUnknownDim});
  EXPECT_EQ((other + zeros({5})).shape(), Shape{5});
  EXPECT_THROW(x + zeros({5}), InvalidArgumentError);
}

TEST(GraphBuilder, ForgetsWhatNobodyNeeds) {
  GraphBuilder builder("chain");
  Tensor x = builder.add_input(DType::float32, {});
  TraceScope scope(builder);
  for (int i = 0; i < 300000; ++i) x = x + x;
  x = builder.constant(Tensor(1.f));  // takes a chain of 300,000 nodes apart
  EXPECT_EQ(builder.finish({&x, 1})->nodes().size(), 1u);
}

TEST(GraphBuilder, ReadsVariablesWhenItRuns) {
  Variable v(Tensor(2.f));
  GraphBuilder builder("variables");
  const Tensor x = builder.add_input(DType::float32, {});
  Tensor before, after;
  {
    TraceScope scope(builder);
    before = x * v;
    v.assign_add(Tensor(1.f));
    after = x * v;
  }
  const auto graph = builder.finish(std::vector{before, after});
  EXPECT_EQ(v.value().item<float>(), 2.f);
  const std::vector<Tensor> got = run(graph, {Tensor(10.f)});
  EXPECT_EQ(got[0].item<float>(), 20.f);
  EXPECT_EQ(got[1].item<float>(), 30.f);
  EXPECT_EQ(run(graph, {Tensor(10.f)})[1].item<float>(), 40.f);
}

TEST(GraphBuilder, RefusesTensorsOfOtherGraphs) {
  GraphBuilder first("first"), second("second");
  const Tensor x = first.add_input(DType::float32, {});
  TraceScope scope(second);
  EXPECT_THROW(x + x, InvalidArgumentError);
}

TEST(GraphBuilder, AnswersForVariablesAndStepsBelowOtherHandlers) {
  Variable v(Tensor(2.f));
  GraphBuilder builder("below");
  const TraceScope scope(builder);
  const GradientTape above;
  EXPECT_TRUE(v.operand().is_symbolic());
  std::vector<Tensor> inputs{v.operand()}, outputs(1);
  const graph::OutputInfo info{DType::float32, {}};
  graph::call_special(constant_special(), {&info, 1}, inputs, outputs);
  EXPECT_TRUE(outputs[0].is_symbolic());
  EXPECT_EQ(current_builder(), &builder);
  {
    const NoHandlers now;
    EXPECT_EQ(current_builder(), nullptr);
    EXPECT_EQ(v.operand().item<float>(), 2.f);
    v.assign_add(Tensor(1.f));
    EXPECT_EQ((v.value() * Tensor(2.f)).item<float>(), 6.f);
    inputs = {Tensor(5.f)};
    graph::call_special(constant_special(), {&info, 1}, inputs, outputs);
    EXPECT_EQ(outputs[0].item<float>(), 5.f);
  }
  EXPECT_TRUE(v.operand().is_symbolic());
}

TEST(GraphBuilder, AnswersOnAnotherThreadInItsPlace) {
  Variable v(Tensor(2.f));
  GraphBuilder builder("two threads");
  const Tensor x = builder.add_input(DType::float32, {});
  Tensor y;
  {
    const TraceScope scope(builder);
    const ThreadPlace here;
    std::thread([&] {
      EXPECT_EQ(current_builder(), nullptr);
      const ThreadPlaceScope place(here);
      EXPECT_EQ(current_builder(), &builder);
      v.assign_add(Tensor(1.f));
      y = x * v;
    }).join();
  }
  EXPECT_EQ(builder.variables().size(), 1u);
  const auto graph = builder.finish({&y, 1});
  EXPECT_EQ(run(graph, {Tensor(10.f)})[0].item<float>(), 30.f);
}

TEST(Gradients, AreNodesWhereAllSizesAreKnown) {
  Variable v(Tensor(3.f));
  GraphBuilder builder("square");
  const Tensor x = builder.add_input(DType::float32, {2});
  Tensor dv;
  {
    TraceScope scope(builder);
    GradientTape tape;
    dv = tape.gradient(sum(x * v * v), v);
  }
  const auto graph = builder.finish({&dv, 1});
  for (const graph::Node* node : graph->nodes()) EXPECT_NE(graph::kind_of(*node), "gradient");
  EXPECT_FLOAT_EQ(run(graph, {Tensor::of({1.f, 2.f})})[0].item<float>(), 18.f);
}

TEST(Gradients, AreLeftToTheRunWhereSizesAreUnknown) {
  GraphBuilder builder("mean");
  const Tensor x = builder.add_input(DType::float32, {kUnknownDim});
  Tensor dx;
  {
    TraceScope scope(builder);
    GradientTape tape;
    tape.watch(x);
    dx = tape.gradient(mean(x * x), x);
  }
  const auto graph = builder.finish({&dx, 1});
  EXPECT_EQ(run(graph, {Tensor::of({3.f, 6.f, 9.f})})[0].to_string(),
            Tensor::of({2.f, 4.f, 6.f}).to_string());
  EXPECT_EQ(run(graph, {Tensor::of({3.f})})[0].to_string(), Tensor::of({6.f}).to_string());
}

TEST(Gradients, GoThroughLoopsAndVariablesInside) {
  Variable v(Tensor(2.f));
  GraphBuilder builder("power");
  const Tensor x = builder.add_input(DType::float32, {});
  std::vector<Tensor> found;
  {
    TraceScope scope(builder);
    GradientTape tape;
    tape.watch(x);
    const Tensor y = power(x, v, 3);
    found = tape.gradient(y, std::vector<GradientSource>{x, v});
    found.push_back(y);
  }
  const auto graph = builder.finish(found);
  const std::vector<Tensor> got = run(graph, {Tensor(5.f)});
  EXPECT_FLOAT_EQ(got[0].item<float>(), 8.f);   // v^3
  EXPECT_FLOAT_EQ(got[1].item<float>(), 60.f);  // 3 x v^2
  EXPECT_FLOAT_EQ(got[2].item<float>(), 40.f);
}

TEST(Gradients, GoThroughAGraphThatRunsUnderATape) {
  GraphBuilder builder("cube");
  const Tensor x = builder.add_input(DType::float32, {kUnknownDim});
  Tensor y;
  {
    TraceScope scope(builder);
    y = x * x * x;
  }
  const auto program = exec::Program::build(*builder.finish({&y, 1}));
  const Tensor in = Tensor::of({1.f, 2.f});
  GradientTape tape;
  tape.watch(in);
  std::vector<Tensor> inputs{in}, outputs(1);
  program->run(inputs, outputs);
  EXPECT_EQ(tape.gradient(outputs[0], in).to_string(), Tensor::of({3.f, 12.f}).to_string());
}

TEST(Programs, AreCopiedIntoTheGraphThatCallsThem) {
  GraphBuilder inner("inner");
  const Tensor x = inner.add_input(DType::float32, {});
  Tensor y;
  {
    TraceScope scope(inner);
    y = x * x;
  }
  const auto program = exec::Program::build(*inner.finish({&y, 1}));
  GraphBuilder outer("outer");
  const Tensor a = outer.add_input(DType::float32, {});
  std::vector<Tensor> inputs{a}, outputs(1);
  {
    TraceScope scope(outer);
    program->run(inputs, outputs);
  }
  const auto graph = outer.finish(outputs);
  EXPECT_EQ(graph->nodes().size(), 2u);
  EXPECT_FLOAT_EQ(run(graph, {Tensor(4.f)})[0].item<float>(), 16.f);
}

}  // namespace
}  // namespace tidemark::trace
