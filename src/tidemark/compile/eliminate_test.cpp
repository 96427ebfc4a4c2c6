#include <gtest/gtest.h>

#include "tidemark/compile/pass.h"
#include "tidemark/compile/testing.h"
#include "tidemark/compile/transposes.h"

namespace tidemark::compile {
namespace {

TEST(EliminateTransposes, JoinsThem) {
  Sketch s;
  const Tensor x = s.input({2, 3, 4});
  const Tensor once = s.call("transpose", {x}, {Attr(Ints{1, 2, 0})});
  const Tensor back = s.call("transpose", {once}, {Attr(Ints{2, 0, 1})});
  const Tensor twice = s.call("transpose", {once}, {Attr(Ints{1, 2, 0})});
  const auto graph = eliminate_transposes(s.finish({back, twice}));
  EXPECT_EQ(num_ops(*graph), 1u);
  EXPECT_EQ(graph->outputs()[1].shape(), (Shape{4, 2, 3}));
  EXPECT_EQ(graph::node_of(graph->outputs()[1]).attrs[0].as_ints(), (Ints{2, 0, 1}));
}

TEST(EliminateCasts, JoinsThoseThatLoseNothing) {
  Sketch s;
  const Tensor half = s.input({2}, DType::float16), whole = s.input({2}, DType::float32);
  const auto cast = [&](const Tensor& t, DType to) { return s.call("cast", {t}, {Attr(to)}); };
  const Tensor same = cast(cast(half, DType::float32), DType::float16);
  const Tensor rounded = cast(cast(whole, DType::float16), DType::float32);
  const auto graph = eliminate_casts(s.finish({same, rounded}));
  EXPECT_EQ(num_ops(*graph), 2u);  // rounding to half and back stays
}

TEST(EliminateCasts, KnowsIntegers) {
  Sketch s;
  const Tensor small = s.input({2}, DType::int8), whole = s.input({2}, DType::int32);
  const auto cast = [&](const Tensor& t, DType to) { return s.call("cast", {t}, {Attr(to)}); };
  const std::vector<Tensor> shorter = {
      cast(cast(small, DType::int64), DType::int8),       // none
      cast(cast(small, DType::int32), DType::float32),    // one
      cast(cast(whole, DType::float64), DType::float32),  // one
      cast(cast(small, DType::float16), DType::int32),    // one
  };
  EXPECT_EQ(num_ops(*eliminate_casts(s.finish(shorter))), 3u);
}

TEST(EliminateCasts, KeepsThoseThatLoseSomething) {
  Sketch s;
  const Tensor small = s.input({2}, DType::int8), whole = s.input({2}, DType::int32);
  const auto cast = [&](const Tensor& t, DType to) { return s.call("cast", {t}, {Attr(to)}); };
  const std::vector<Tensor> kept = {
      cast(cast(whole, DType::float32), DType::float64),  // rounds
      cast(cast(small, DType::uint8), DType::int32),      // has no negative numbers
      cast(cast(whole, DType::float64), DType::int8),     // a float that does not fit
      cast(cast(whole, DType::bool_), DType::int32),
  };
  const auto graph = s.finish(kept);
  EXPECT_EQ(eliminate_casts(graph), graph);
}

TEST(EliminateTransposes, LetsProductsReadAsItLies) {
  Sketch s;
  const Tensor a = s.input({5, 3}), b = s.input({7, 5});
  const Tensor turned_a = s.call("transpose", {a}), turned_b = s.call("transpose", {b});
  const auto graph = eliminate_transposes(s.finish({s.call("matmul", {turned_a, turned_b})}));
  EXPECT_EQ(num_ops(*graph), 1u);
  const graph::Node& product = graph::node_of(graph->outputs()[0]);
  EXPECT_TRUE(product.attrs[0].as_bool() && product.attrs[1].as_bool());
  EXPECT_EQ(graph->outputs()[0].shape(), (Shape{3, 7}));
}

TEST(EliminateTransposes, TurnsAdjointOperandsBack) {
  Sketch s;
  const Tensor a = s.input({2, 4, 5}), b = s.input({2, 3, 5});
  const Tensor turned = s.call("transpose", {b}, {Attr(Ints{0, 2, 1})});
  const Tensor product =
      s.call("matmul", {a, turned}, {Attr(false), Attr(false), Attr(false), Attr(false)});
  const Tensor twice =
      s.call("matmul", {b, turned}, {Attr(false), Attr(false), Attr(true), Attr(true)});
  EXPECT_EQ(twice.shape(), (Shape{2, 5, 5}));
  const auto graph = eliminate_transposes(s.finish({product, twice}));
  EXPECT_EQ(num_ops(*graph), 2u);
  EXPECT_TRUE(graph::node_of(graph->outputs()[0]).attrs[1].as_bool());
  EXPECT_FALSE(graph::node_of(graph->outputs()[1]).attrs[1].as_bool());
  EXPECT_FALSE(graph::node_of(graph->outputs()[1]).attrs[3].as_bool());
}

TEST(EliminateTransposes, TurnsAProductThatNobodyElseNeeds) {
  Sketch s;
  const Tensor a = s.input({4, 5}), b = s.input({5, 3});
  const Tensor product = s.call("matmul", {a, b});
  const auto graph = eliminate_transposes(s.finish({s.call("transpose", {product})}));
  EXPECT_EQ(num_ops(*graph), 1u);
  EXPECT_EQ(graph->outputs()[0].shape(), (Shape{3, 4}));
  Sketch other;
  const Tensor c = other.input({4, 5}), d = other.input({5, 3});
  const Tensor needed = other.call("matmul", {c, d});
  const auto same = other.finish({other.call("transpose", {needed}), needed});
  EXPECT_EQ(eliminate_transposes(same), same);
}

TEST(EliminateTransposes, ReshapesWhatMovesNoElement) {
  Sketch s;
  const Tensor x = s.input({4, 1, 5});
  const Tensor y = s.call("transpose", {x}, {Attr(Ints{1, 0, 2})});
  const auto graph = eliminate_transposes(s.finish({y}));
  EXPECT_EQ(graph::node_of(graph->outputs()[0]).op->name(), "reshape");
  EXPECT_EQ(graph->outputs()[0].shape(), (Shape{1, 4, 5}));
}

size_t num_transposes(const graph::Graph& graph) {
  size_t count = 0;
  for (const graph::Node* node : graph.nodes()) count += permutation_of(*node).has_value();
  return count;
}

/// convolution over images that lie channels first.
Tensor channels_first(Sketch& s, const Tensor& x, const Tensor& filter) {
  const Tensor last = s.call("transpose", {x}, {Attr(Ints{0, 2, 3, 1})});
  const Tensor made = s.call("convolution", {last, filter}, {Attr(Ints{1, 1}), Attr("SAME")});
  return s.call("transpose", {made}, {Attr(Ints{0, 3, 1, 2})});
}

TEST(ChooseLayout, KeepsChannelsLastBetweenConvolutions) {
  Sketch s;
  const Tensor x = s.input({2, 6, 8, 8}), k = s.input({3, 3, 6, 6});
  const Tensor bias = s.input({1, 6, 1, 1});
  Tensor y = s.call("relu", {s.call("add", {channels_first(s, x, k), bias})});
  const Tensor mean = s.call("mean", {y}, {Attr(Ints{0, 2, 3}), Attr(true)});
  y = s.call("subtract", {y, mean});
  y = s.call("add", {y, s.call("relu", {channels_first(s, y, k)})});
  y = s.call("multiply", {channels_first(s, y, k), Tensor(2.f)});
  const auto before = s.finish({y});
  EXPECT_EQ(num_transposes(*before), 6u);
  const auto after = choose_layout(before);
  verify(*after);
  EXPECT_EQ(num_transposes(*after), 2u);
  EXPECT_EQ(after->outputs()[0].shape(), (Shape{2, 6, 8, 8}));
}

TEST(ChooseLayout, MovesTransposesThroughSlicesThatAreCutJoinedAndPicked) {
  Sketch s;
  const Tensor x = s.input({2, 6, 8, 8}), k = s.input({3, 3, 6, 6});
  const Tensor whole = channels_first(s, x, k);
  const Tensor first = s.call("split", {whole}, {Attr(int64_t{2}), Attr(int64_t{1})});
  const Tensor second = graph::output_of(graph::node_of(first), 1);
  const Tensor joined = s.call("concat", {second, first}, {Attr(int64_t{-3})});
  const Tensor rows = Tensor::of<int64_t>({0, 0, 3}, {3});
  const Tensor picked =
      s.call("gather", {joined, rows}, {Attr(), Attr(int64_t{2}), Attr(int64_t{0})});
  const auto before = s.finish({channels_first(s, picked, k)});
  EXPECT_EQ(num_transposes(*before), 4u);
  const auto after = choose_layout(before);
  verify(*after);
  EXPECT_EQ(num_transposes(*after), 2u);
  EXPECT_EQ(after->outputs()[0].shape(), (Shape{2, 6, 3, 8}));
}

TEST(ChooseLayout, LeavesWhatItCannotImprove) {
  Sketch s;
  const Tensor x = s.input({4, 5}), y = s.input({5, 4});
  const Tensor turned = s.call("transpose", {x});
  const auto graph = s.finish({s.call("add", {turned, y}), s.call("relu", {turned})});
  EXPECT_EQ(choose_layout(graph), graph);
}

}  // namespace
}  // namespace tidemark::compile
