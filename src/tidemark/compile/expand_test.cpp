#include <gtest/gtest.h>

#include "tidemark/compile/fuse_graph.h"
#include "tidemark/compile/pass.h"
#include "tidemark/compile/testing.h"

namespace tidemark::compile {
namespace {

bool has_op(const graph::Graph& graph, std::string_view name) {
  for (const graph::Node* node : graph.nodes()) {
    if (node->op && node->op->name() == name) return true;
  }
  return false;
}

TEST(Expand, WritesOutWhatCanBeFused) {
  if (!is_fusion_on()) GTEST_SKIP() << "nothing is fused";
  Sketch s;
  const Tensor x = s.input({4, 8});
  const Tensor before = s.call("softmax", {s.call("tanh", {x})});
  const Tensor after = s.call("exp", {s.call("log_softmax", {x})});
  const auto graph = expand(s.finish({before, after}));
  EXPECT_FALSE(has_op(*graph, "softmax") || has_op(*graph, "log_softmax"));
  verify(*graph);
  for (const Tensor& t : graph->outputs()) EXPECT_EQ(t.shape(), (Shape{4, 8}));
}

TEST(Expand, LeavesWhatStandsAloneOrRunsOverOtherDimensions) {
  Sketch s;
  const Tensor x = s.input({4, 8}), wide = s.input({4, 8}, DType::float64);
  const auto graph = s.finish({
      s.call("softmax", {x}),
      s.call("exp", {s.call("softmax", {x}, {Attr(0)})}),
      s.call("exp", {s.call("softmax", {wide})}),
      s.call("sum", {s.call("softmax", {s.call("softmax", {x})})}, {Attr(Ints{0})}),
  });
  EXPECT_EQ(expand(graph), graph);
}

TEST(Expand, GivesTheStatisticsOfRowsToo) {
  if (!is_fusion_on()) GTEST_SKIP() << "nothing is fused";
  Sketch s;
  const Tensor x = s.input({4, 8}, DType::bfloat16), scale = s.input({8}, DType::bfloat16);
  const Tensor y = s.call("layer_norm", {s.call("tanh", {x}), scale, scale});
  graph::Node& node = graph::node_of(y);
  const auto graph = expand(s.finish({y, graph::output_of(node, 1), graph::output_of(node, 2)}));
  EXPECT_FALSE(has_op(*graph, "layer_norm"));
  EXPECT_EQ(graph->outputs()[0].dtype(), DType::bfloat16);
  for (const size_t i : {1, 2}) {
    EXPECT_EQ(graph->outputs()[i].dtype(), DType::float32);
    EXPECT_EQ(graph->outputs()[i].shape(), (Shape{4}));
  }
}

}  // namespace
}  // namespace tidemark::compile
