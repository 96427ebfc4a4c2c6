#include "tidemark/trace/specialise.h"

#include <gtest/gtest.h>
#include <tidemark/create.h>
#include <tidemark/gradient.h>
#include <tidemark/ops.h>

#include "tidemark/exec/program.h"
#include "tidemark/trace/builder.h"

namespace tidemark::trace {
namespace {

template <class Code>
std::shared_ptr<graph::Graph> traced(const Code& code) {
  GraphBuilder builder("traced");
  const Tensor x = builder.add_input(DType::float32, {kUnknownDim, kUnknownDim});
  std::vector<Tensor> outputs;
  {
    const TraceScope scope(builder);
    outputs = code(x);
  }
  return builder.finish(outputs);
}

int count(const graph::Graph& graph, std::string_view kind) {
  int found = 0;
  for (const graph::Node* node : graph.nodes()) found += graph::kind_of(*node) == kind;
  return found;
}

float run(const graph::Graph& graph, const Tensor& x, size_t output = 0) {
  std::vector<Tensor> inputs{x}, outputs(graph.outputs().size());
  exec::Program::build(graph, exec::Compile::never)->run(inputs, outputs);
  return sum(outputs[output]).item<float>();
}

TEST(Specialise, KnowsEverySizeThatFollowsFromTheInputs) {
  const auto graph = traced([](const Tensor& x) {
    return std::vector{matmul(x, transpose(x)), reshape(x, Tensor::of<int32_t>({-1}))};
  });
  const Tensor x = ones({2, 3});
  const auto known = specialise(*graph, {&x, 1});
  EXPECT_EQ(known->outputs()[0].shape(), (Shape{2, 2}));
  EXPECT_EQ(known->outputs()[1].shape(), Shape{6});
  for (const graph::Node* node : known->nodes()) {
    for (const graph::OutputInfo& info : node->outputs) EXPECT_TRUE(info.shape.is_fully_known());
  }
  EXPECT_EQ(graph->outputs()[0].shape(), (Shape{kUnknownDim, kUnknownDim}));  // as it was
  EXPECT_EQ(run(*known, x), run(*graph, x));
}

TEST(Specialise, SizesThatCannotBeAreRefused) {
  const auto graph = traced([](const Tensor& x) { return std::vector{matmul(x, x)}; });
  const Tensor x = ones({2, 3});
  EXPECT_THROW(specialise(*graph, {&x, 1}), InvalidArgumentError);
}

TEST(Specialise, UpdatesStayBetweenTheReadings) {
  Variable v(Tensor(2.f));
  const auto graph = traced([&](const Tensor& x) {
    const Tensor before = x * v + v;
    v.assign_add(Tensor(1.f));
    return std::vector{before, x * v};
  });
  const Tensor x = ones({1, 1});
  const auto known = specialise(*graph, {&x, 1});
  EXPECT_EQ(count(*known, "read_variable"), 2);
  EXPECT_EQ(known->effects().size(), 1u);
  EXPECT_EQ(run(*known, x, 0), 4.f);
  EXPECT_EQ(run(*known, x, 1), 4.f);
  EXPECT_EQ(v.operand().item<float>(), 4.f);
}

TEST(Specialise, GradientsLeftToTheRunBecomeNodes) {
  Variable v(Tensor(3.f));
  const auto graph = traced([&](const Tensor& x) {
    GradientTape outer;
    outer.watch(x);
    GradientTape inner;
    inner.watch(x);
    const std::vector<Tensor> first =
        inner.gradient(sum(x * x * x * v), std::vector<GradientSource>{x, v});
    return std::vector{first[0], first[1], outer.gradient(sum(first[0]), x)};
  });
  EXPECT_EQ(count(*graph, "gradient"), 2);
  const Tensor x = Tensor::of({1.f, 2.f}, {1, 2});
  const auto known = specialise(*graph, {&x, 1});
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(count(*known, "gradient"), 0);
  EXPECT_FLOAT_EQ(run(*known, x, 0), 45.f);  // 3 v x^2
  EXPECT_FLOAT_EQ(run(*known, x, 1), 9.f);   // x^3
  EXPECT_FLOAT_EQ(run(*known, x, 2), 54.f);  // 6 v x
  for (size_t i = 0; i < 3; ++i) EXPECT_FLOAT_EQ(run(*known, x, i), run(*graph, x, i));
}

class Counting final : public Handler {
 public:
  void handle(const OpCall& call, std::span<Tensor> outputs) override {
    ++calls;
    next(call, outputs);
  }
  int calls = 0;
};

TEST(Specialise, AsksNoHandlerOfTheThread) {
  Variable v(Tensor(3.f));
  const auto graph = traced([&](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    return std::vector{tape.gradient(sum(x * v), x)};
  });
  GraphBuilder around("around");
  const TraceScope scope(around);
  Counting counting;
  const HandlerScope above(counting);
  const Tensor x = ones({2, 3});
  ASSERT_NE(specialise(*graph, {&x, 1}), nullptr);
  EXPECT_EQ(counting.calls, 0);
  EXPECT_TRUE(around.variables().empty());
  EXPECT_EQ(current_builder(), &around);
}

}  // namespace
}  // namespace tidemark::trace
