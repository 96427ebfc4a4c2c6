#include "tidemark/compile/pass.h"

#include <gtest/gtest.h>
#include <tidemark/op.h>

#include "tidemark/compile/testing.h"
#include "tidemark/graph/specials.h"

namespace tidemark::compile {
namespace {

TEST(Fold, ComputesWhatDependsOnConstantsAlone) {
  Sketch s;
  const Tensor x = s.input({2, 3});
  const Tensor two = s.call("add", {Tensor(1.f), Tensor(1.f)});
  const auto graph = fold(s.finish({s.call("multiply", {x, two})}));
  EXPECT_EQ(num_ops(*graph), 1u);
  const Tensor factor = graph::node_of(graph->outputs()[0]).inputs[1];
  EXPECT_EQ(factor.item<float>(), 2.f);
}

TEST(Fold, KnowsSizesOfUnknownElements) {
  Sketch s;
  const Tensor x = s.input({2, 3});
  const auto graph = fold(s.finish({s.call("shape", {x})}));
  EXPECT_EQ(num_ops(*graph), 0u);
  EXPECT_EQ(graph->outputs()[0].to_ints(), (Ints{2, 3}));
}

TEST(Fold, KeepsNothingLarge) {
  Sketch s;
  const Tensor big = s.call("fill", {Tensor::of<int64_t>({1 << 20}), Tensor(1.f)});
  const auto graph = s.finish({big});
  EXPECT_EQ(num_ops(*fold(graph)), 1u);
}

TEST(Fold, LeavesTheStateOfRandomNumbersAlone) {
  Sketch s;
  const Tensor random = s.call("random_uniform", {Tensor::of<int32_t>({2})});
  EXPECT_EQ(num_ops(*fold(s.finish({random}))), 1u);
}

TEST(Simplify, DropsNeutralElements) {
  Sketch s;
  const Tensor x = s.input({2, 3});
  Tensor y = s.call("multiply", {x, Tensor(1.f)});
  y = s.call("truediv", {y, Tensor(1.f)});
  y = s.call("subtract", {y, Tensor(0.f)});
  y = s.call("identity", {y});
  EXPECT_EQ(num_ops(*simplify(s.finish({y}))), 0u);
}

TEST(Simplify, KeepsWhatChangesAShapeOrASign) {
  Sketch s;
  const Tensor x = s.input({3});
  const Tensor wide = s.call("multiply", {x, Tensor::of({1.f}, {1, 1})});
  const Tensor plus_zero = s.call("add", {x, Tensor(0.f)});  // -0 becomes 0
  EXPECT_EQ(num_ops(*simplify(s.finish({wide, plus_zero}))), 2u);
}

TEST(ShareEqual, ComputesOnce) {
  Sketch s;
  const Tensor x = s.input({2}), y = s.input({2});
  const Tensor a = s.call("tanh", {s.call("add", {x, Tensor(1.f)})});
  const Tensor b = s.call("tanh", {s.call("add", {x, Tensor(1.f)})});
  const Tensor other = s.call("tanh", {s.call("add", {y, Tensor(1.f)})});
  const auto graph = share_equal(s.finish({s.call("multiply", {a, b}), other}));
  EXPECT_EQ(num_ops(*graph), 5u);
}

TEST(ShareEqual, NeverSharesWhatDrawsOnAState) {
  Sketch s;
  const Tensor shape = Tensor::of<int32_t>({2});
  const Tensor a = s.call("random_uniform", {shape}), b = s.call("random_uniform", {shape});
  EXPECT_EQ(num_ops(*share_equal(s.finish({s.call("add", {a, b})}))), 3u);
}

TEST(Verify, FindsTensorsOfOtherGraphs) {
  Sketch here, there;
  const Tensor x = there.input({2});
  EXPECT_THROW(verify(*here.finish({here.call("tanh", {x})})), InternalError);
}

TEST(Verify, FindsPlaceholdersThatAreNoInputs) {
  auto graph = graph::Graph::create("loose");
  const graph::NodeRef node = graph->new_node();
  node->special = graph::placeholder_special();
  node->outputs.push_back({DType::float32, {2}});
  graph->set_outputs({graph::output_of(*node, 0)});
  EXPECT_THROW(verify(*graph), InternalError);
}

TEST(Passes, KeepWhatCallersSee) {
  Sketch s;
  const Tensor x = s.input({4, 2});
  const Tensor y = s.call("sum", {s.call("multiply", {x, Tensor(1.f)})});
  const auto before = s.finish({y, x});
  const auto after = run_passes(before);
  ASSERT_EQ(after->outputs().size(), 2u);
  EXPECT_EQ(after->outputs()[0].shape(), before->outputs()[0].shape());
  EXPECT_EQ(after->inputs().size(), 1u);
}

}  // namespace
}  // namespace tidemark::compile
