#include "tidemark/compile/repeat_cheap.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tidemark/compile/fuse_graph.h"
#include "tidemark/compile/pass.h"
#include "tidemark/compile/testing.h"

namespace tidemark::compile {
namespace {

constexpr double kAny = 1.0;  // as much time again

int64_t count(const graph::Graph& graph, std::string_view kind) {
  int64_t n = 0;
  for (const graph::Node* node : graph.nodes()) n += graph::kind_of(*node) == kind;
  return n;
}

/// Layers of x = h · w, h = f(x), and the way back, which needs x and h of each.
struct Layers {
  explicit Layers(const char* activation, const char* slope, int layers = 6) {
    const Tensor w = s.input({256, 256});
    Tensor h = s.input({1024, 256});
    std::vector<Tensor> before = {h}, inner;
    for (int i = 0; i < layers; ++i) {
      inner.push_back(s.call("matmul", {h, w}));
      h = s.call(activation, {inner.back()});
      before.push_back(h);
    }
    Tensor d = s.call("square", {h});
    std::vector<Tensor> results;
    for (int i = layers; i-- > 0;) {
      d = s.call(slope, {d, inner[static_cast<size_t>(i)]});
      results.push_back(s.call("matmul", {before[static_cast<size_t>(i)], d},
                               {Attr(true), Attr(false), Attr(false), Attr(false)}));
      d = s.call("matmul", {d, w}, {Attr(false), Attr(true), Attr(false), Attr(false)});
    }
    graph = s.finish(results);
  }
  Sketch s;
  std::shared_ptr<graph::Graph> graph;
};

TEST(RepeatCheap, ComputesActivationsAgain) {
  const Layers made("gelu", "gelu_grad");
  Repetitions repetitions;
  const auto graph = repeat_cheap(made.graph, kAny, &repetitions);
  verify(*graph);
  // The last one is used up before most memory is taken, the others cross that.
  EXPECT_GE(repetitions.steps.size(), 4u);
  EXPECT_EQ(count(*graph, "gelu"),
            count(*made.graph, "gelu") + static_cast<int64_t>(repetitions.steps.size()));
  EXPECT_EQ(count(*graph, "matmul"), count(*made.graph, "matmul"));
  EXPECT_GT(repetitions.added_time, 0);
  EXPECT_LT(repetitions.added_time, kAny);
  for (const RepeatedStep& step : repetitions.steps) {
    EXPECT_EQ(step.op, "gelu");
    EXPECT_EQ(step.bytes, 1 << 20);
    EXPECT_EQ(step.kept_for, "matmul");
  }
}

TEST(RepeatCheap, KeepsWithinTheTime) {
  const Layers made("gelu", "gelu_grad");
  EXPECT_EQ(repeat_cheap(made.graph, 0), made.graph);
  Repetitions all, few;
  repeat_cheap(made.graph, kAny, &all);
  // A gain that small is none.
  EXPECT_EQ(repeat_cheap(made.graph, all.added_time / 100, &few), made.graph);
  EXPECT_TRUE(few.steps.empty());
  repeat_cheap(made.graph, all.added_time * 0.75, &few);
  EXPECT_LT(few.steps.size(), all.steps.size());
  EXPECT_LE(few.added_time, all.added_time * 0.75);
}

TEST(RepeatCheap, LeavesProductsAlone) {
  // The slope is had from the result: what the activation was made of is gone.
  const Layers made("relu", "relu_grad");
  Sketch s;
  const Tensor w = s.input({256, 256});
  Tensor h = s.input({1024, 256});
  std::vector<Tensor> kept;
  for (int i = 0; i < 6; ++i) kept.push_back(h = s.call("relu", {s.call("matmul", {h, w})}));
  Tensor d = s.call("square", {h});
  std::vector<Tensor> results;
  for (int i = 6; i-- > 0;) {
    d = s.call("relu_grad", {d, kept[static_cast<size_t>(i)]});
    results.push_back(s.call("matmul", {kept[static_cast<size_t>(i)], d},
                             {Attr(true), Attr(false), Attr(false), Attr(false)}));
    d = s.call("matmul", {d, w});
  }
  const auto graph = s.finish(results);
  EXPECT_EQ(repeat_cheap(graph, kAny), graph);
}

TEST(RepeatCheap, NeverRepeatsDraws) {
  Sketch s;
  Tensor h = s.input({512, 512});
  std::vector<Tensor> masks;
  for (int i = 0; i < 6; ++i) {
    const int64_t dims[] = {512, 512};
    masks.push_back(s.call("random_uniform", {Tensor::of(std::span<const int64_t>(dims), {2})}));
    h = s.call("matmul", {s.call("multiply", {h, masks.back()}), h});
  }
  for (int i = 6; i-- > 0;) h = s.call("matmul", {h, masks[static_cast<size_t>(i)]});
  const auto given = s.finish({h});
  const auto graph = repeat_cheap(given, kAny);
  EXPECT_EQ(count(*graph, "random_uniform"), 6);
}

TEST(RepeatCheap, WaitsForWhatIsLate) {
  const Layers made("gelu", "gelu_grad");
  const auto graph = repeat_cheap(made.graph, kAny);
  const std::vector<graph::Node*> nodes = graph->nodes();
  // What stands for x from there on waits, so that nothing that reads it can run early.
  EXPECT_GE(std::count_if(nodes.begin(), nodes.end(),
                          [](const graph::Node* node) { return !node->before.empty(); }),
            4);
  if (!is_fusion_on()) GTEST_SKIP() << "nothing is fused";
  // The activation and its slope are one group, computed with the product before them.
  const auto fused = run_passes(made.graph);
  const std::vector<graph::Node*> steps = fused->nodes();
  EXPECT_TRUE(std::none_of(steps.begin(), steps.end(), [](const graph::Node* node) {
    return graph::kind_of(*node) == "gelu";
  }));
}

}  // namespace
}  // namespace tidemark::compile
