// relu_grad(max_pool_grad(y, p, dp), y), where p is the max_pool of y, is
// max_pool_grad(y, p, relu_grad(dp, p)): a gradient goes to an element that equals the window's
// greatest, so both are positive or neither is. Where a window holds a NaN the gradient goes to
// that element and the greatest is NaN: neither is positive.
//
// The mask is as much smaller as the windows are large, and nobody needs y after the gradient of
// the pooling, which may be written over it.

#include <unordered_map>

#include "tidemark/compile/pass.h"
#include "tidemark/compile/rewrite.h"
#include "tidemark/compile/transposes.h"

namespace tidemark::compile {

namespace {

bool is_same(const Tensor& a, const Tensor& b) {
  return a.is_symbolic() && b.is_symbolic() && &graph::node_of(a) == &graph::node_of(b) &&
         graph::symbolic(a).index == graph::symbolic(b).index;
}

class PooledMasks {
 public:
  explicit PooledMasks(const graph::Graph& graph) : now_(graph) {
    for (const graph::Node* node : graph.nodes()) {
      for (const Tensor& t : node->inputs) count(t);
    }
    for (const Tensor& t : graph.outputs()) count(t);
  }

  /// Null: there is nothing of the kind.
  std::shared_ptr<graph::Graph> run() {
    const bool changed = now_.replace([&](const graph::Node& node) { return replacement(node); });
    return changed ? now_.finish() : nullptr;
  }

 private:
  void count(const Tensor& t) {
    if (t.is_symbolic()) ++uses_[&graph::node_of(t)];
  }

  Tensor replacement(const graph::Node& node) {
    if (!node.op || node.op->name() != "relu_grad" || !node.before.empty()) return {};
    const graph::Node* back = made_by(node.inputs[0], "max_pool_grad");
    if (!back || uses_[back] != 1 || !back->before.empty()) return {};
    const Tensor &images = back->inputs[0], &pooled = back->inputs[1];
    const graph::Node* pool = made_by(pooled, "max_pool");
    if (!is_same(node.inputs[1], images) || !pool || !is_same(pool->inputs[0], images)) return {};
    if (pool->attrs != back->attrs) return {};
    return now_.add(*back->op, {now_.at(images), now_.at(pooled), masked(node, *back)}, back->attrs,
                    *back);
  }

  /// Behind a product that was only given another shape the mask is part of the product.
  Tensor masked(const graph::Node& relu, const graph::Node& back) {
    const Tensor &pooled = back.inputs[1], &gradient = back.inputs[2];
    const graph::Node* reshape = made_by(gradient, "reshape");
    if (!reshape || uses_[reshape] != 1 || !reshape->inputs[0].shape().is_fully_known()) {
      return now_.add(*relu.op, {now_.at(gradient), now_.at(pooled)}, relu.attrs, relu);
    }
    const Shape& shape = reshape->inputs[0].shape();
    const std::vector<int64_t> dims(shape.begin(), shape.end());
    const Tensor flat = now_.add(
        *reshape->op, {now_.at(pooled), Tensor::of(std::span<const int64_t>(dims), {shape.rank()})},
        reshape->attrs, relu);
    const Tensor mask = now_.add(*relu.op, {now_.at(reshape->inputs[0]), flat}, relu.attrs, relu);
    return now_.add(*reshape->op, {mask, now_.at(reshape->inputs[1])}, reshape->attrs, *reshape);
  }

  Rewriter now_;
  std::unordered_map<const graph::Node*, int> uses_;
};

}  // namespace

std::shared_ptr<graph::Graph> mask_pooled(const std::shared_ptr<graph::Graph>& graph) {
  const std::shared_ptr<graph::Graph> better = PooledMasks(*graph).run();
  return better ? better : graph;
}

}  // namespace tidemark::compile
