// Rewriter: makes a new graph out of one that is never changed, node by node.
//
//   Rewriter now(old);
//   for (graph::Node* node : old.nodes()) {
//     if (is_superfluous(*node)) {
//       now.set(*node, 0, now.at(node->inputs[0]));   // its only input stands for it
//     } else {
//       now.copy(*node);
//     }
//   }
//   return now.finish();
#pragma once

#include <tidemark/op.h>

#include <map>
#include <unordered_map>

#include "tidemark/graph/graph.h"

namespace tidemark::compile {

/// Nodes have to be added in an order in which they can run: what is added later runs later.
class Rewriter {
 public:
  /// Makes the inputs of the new graph at once; they stand for those of the old.
  explicit Rewriter(const graph::Graph& from);
  Rewriter(const Rewriter&) = delete;

  /// What stands for the tensor in the new graph. Elements stand for themselves.
  Tensor at(const Tensor& old);
  std::vector<Tensor> at(std::span<const Tensor> old);
  /// From now on `now` stands for that output of the old node.
  void set(const graph::Node& old, uint32_t output, const Tensor& now);
  /// The node again, over what stands for its inputs; its outputs stand for the old ones. What the
  /// old graph keeps the new one keeps.
  graph::NodeRef copy(const graph::Node& old);

  /// The node again, over these inputs. It stands for nothing yet, and is kept as the old one is
  /// unless it is the second of its kind.
  graph::NodeRef copy_over(const graph::Node& old, std::vector<Tensor> inputs);

  /// A new node at the source line of `like`, and on its device. Its shapes are those its op's rule
  /// tells.
  Tensor add(const OpDef& op, std::vector<Tensor> inputs, std::vector<Attr> attrs,
             const graph::Node& like);
  graph::NodeRef add(std::shared_ptr<const graph::Special> special, std::vector<Tensor> inputs,
                     std::vector<graph::OutputInfo> outputs, const graph::Node& like);
  /// The node runs though nobody may look at its outputs.
  void keep(const graph::NodeRef& node) { to_->keep(node); }

  std::shared_ptr<graph::Graph> finish();

  /// Goes through all nodes: what `replacement(node)` gives stands for the only output; empty: the
  /// node is copied. Gives whether any was replaced.
  template <class Replacement>
  bool replace(Replacement&& replacement) {
    bool changed = false;
    for (const graph::Node* node : from_.nodes()) {
      if (graph::is_placeholder(*node)) continue;
      if (const Tensor now = replacement(*node)) {
        set(*node, 0, now);
        changed = true;
      } else {
        copy(*node);
      }
    }
    return changed;
  }

 private:
  graph::NodeRef new_node(const graph::Node& like);
  graph::NodeRef now_of(const graph::Node& old) const;

  const graph::Graph& from_;
  std::shared_ptr<graph::Graph> to_;
  std::map<std::pair<const graph::Node*, uint32_t>, Tensor> tensors_;
  std::unordered_map<const graph::Node*, graph::NodeRef> nodes_;
};

/// The elements, where they were known when the graph was built; empty: they are not.
Tensor constant_value(const Tensor& t);

}  // namespace tidemark::compile
