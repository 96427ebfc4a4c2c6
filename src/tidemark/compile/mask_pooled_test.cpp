#include <gtest/gtest.h>

#include "tidemark/compile/pass.h"
#include "tidemark/compile/testing.h"
#include "tidemark/ops/in_place.h"

namespace tidemark::compile {
namespace {

std::vector<Attr> windows(int64_t size, int64_t stride, const char* padding = "VALID") {
  return {Attr(Ints{size, size}), Attr(Ints{stride, stride}), Attr(padding)};
}

struct Pooled {
  Sketch s;
  Tensor images = s.call("relu", {s.input({2, 6, 6, 4})});
  Tensor pooled = s.call("max_pool", {images}, windows(2, 2));
  Tensor gradient = s.input({2, 3, 3, 4});
};

TEST(MaskPooled, MasksWhatIsPooled) {
  Pooled p;
  const Tensor back = p.s.call("max_pool_grad", {p.images, p.pooled, p.gradient}, windows(2, 2));
  const auto graph = mask_pooled(p.s.finish({p.s.call("relu_grad", {back, p.images})}));
  const graph::Node& last = graph::node_of(graph->outputs()[0]);
  EXPECT_EQ(last.op->name(), "max_pool_grad");
  const graph::Node& mask = graph::node_of(last.inputs[2]);
  EXPECT_EQ(mask.op->name(), "relu_grad");
  EXPECT_EQ(mask.outputs[0].shape, (Shape{2, 3, 3, 4}));
  EXPECT_EQ(num_ops(*graph), 4u);
}

TEST(MaskPooled, GoesThroughReshapes) {
  Pooled p;
  const Tensor flat = p.s.input({2, 36});
  const int64_t dims[] = {2, 3, 3, 4};
  const Tensor gradient =
      p.s.call("reshape", {flat, Tensor::of(std::span<const int64_t>(dims), {4})});
  const Tensor back = p.s.call("max_pool_grad", {p.images, p.pooled, gradient}, windows(2, 2));
  const auto graph = mask_pooled(p.s.finish({p.s.call("relu_grad", {back, p.images})}));
  const graph::Node& last = graph::node_of(graph->outputs()[0]);
  const graph::Node& reshape = graph::node_of(last.inputs[2]);
  EXPECT_EQ(reshape.op->name(), "reshape");
  EXPECT_EQ(graph::node_of(reshape.inputs[0]).op->name(), "relu_grad");
  EXPECT_EQ(reshape.inputs[0].shape(), (Shape{2, 36}));
}

TEST(MaskPooled, LeavesWhatIsNoMaskOfThePooledImages) {
  Pooled p;
  const Tensor other = p.s.input({2, 6, 6, 4});
  const Tensor of_others = p.s.input({2, 3, 3, 4});
  const Tensor back = p.s.call("max_pool_grad", {p.images, p.pooled, p.gradient}, windows(2, 2));
  // A mask by other elements; a pooling nobody knows of; other windows than those pooled.
  const Tensor unknown =
      p.s.call("max_pool_grad", {p.images, of_others, p.gradient}, windows(2, 2));
  const Tensor same = p.s.call("max_pool", {p.images}, windows(4, 1));
  const Tensor wide = p.s.call("max_pool_grad", {p.images, same, p.gradient}, windows(2, 2));
  const auto graph =
      p.s.finish({p.s.call("relu_grad", {back, other}), p.s.call("relu_grad", {unknown, p.images}),
                  p.s.call("relu_grad", {wide, p.images})});
  EXPECT_EQ(mask_pooled(graph), graph);
}

TEST(MaskPooled, LeavesGradientsThatOthersSee) {
  Pooled p;
  const Tensor back = p.s.call("max_pool_grad", {p.images, p.pooled, p.gradient}, windows(2, 2));
  const auto graph = p.s.finish({p.s.call("relu_grad", {back, p.images}), back});
  EXPECT_EQ(mask_pooled(graph), graph);
}

TEST(MayWriteInto, LooksAtTheWindows) {
  Pooled p;
  const auto may = [&](const std::vector<Attr>& attrs, size_t input) {
    const Tensor pooled = p.s.call("max_pool", {p.images}, attrs);
    const Tensor back = p.s.call("max_pool_grad", {p.images, pooled, pooled}, attrs);
    const graph::Node& node = graph::node_of(back);
    return may_write_into(*node.op, node.inputs, node.attrs, input);
  };
  EXPECT_TRUE(may(windows(2, 2), 0));
  EXPECT_TRUE(may(windows(2, 3), 0));
  EXPECT_TRUE(may(windows(3, 3, "SAME"), 0));
  EXPECT_FALSE(may(windows(3, 2), 0));
  EXPECT_FALSE(may(windows(2, 2), 1));
  EXPECT_FALSE(may(windows(1, 1), 2));
}

}  // namespace
}  // namespace tidemark::compile
