// A draw of random numbers becomes the reservation of their place in the generator's stream, which
// has an effect and takes no time, and the numbers from there on, which are a pure function of it:
// computed where they are used, or not at all.

#include <algorithm>

#include "tidemark/base/random_state.h"
#include "tidemark/compile/fuse_graph.h"
#include "tidemark/compile/pass.h"
#include "tidemark/compile/rewrite.h"

namespace tidemark::compile {

namespace {

bool is_draw(const graph::Node& node) {
  if (!node.op || !node.before.empty() || !node.op->is_stateful()) return false;
  return node.op->distribution() != Distribution::none && node.outputs[0].dtype == DType::float32 &&
         node.outputs[0].shape.is_fully_known();
}

class Reserver {
 public:
  explicit Reserver(const graph::Graph& graph) : graph_(graph), now_(graph) {}

  std::shared_ptr<graph::Graph> run() {
    for (const graph::Node* node : graph_.nodes()) {
      if (graph::is_placeholder(*node)) continue;
      if (is_draw(*node)) {
        reserve(*node);
      } else {
        now_.copy(*node);
      }
    }
    return now_.finish();
  }

 private:
  void reserve(const graph::Node& node) {
    const auto seed_attr = static_cast<size_t>(node.op->attr_index("seed"));
    const int64_t group = random_group(node.outputs[0].dtype);
    const int64_t groups = (node.outputs[0].shape.num_elements() + group - 1) / group;
    const OpRegistry& ops = OpRegistry::instance();
    const Tensor stream = now_.add(ops.get("random_stream"), {},
                                   {Attr(groups * kBlocksPerGroup), node.attrs[seed_attr]}, node);
    now_.keep(graph::NodeRef::share(&graph::node_of(stream)));
    std::vector<Attr> attrs = node.attrs;
    attrs.erase(attrs.begin() + static_cast<std::ptrdiff_t>(seed_attr));
    now_.set(node, 0,
             now_.add(ops.get("stream_" + node.op->name()), {now_.at(node.inputs[0]), stream},
                      std::move(attrs), node));
  }

  const graph::Graph& graph_;
  Rewriter now_;
};

}  // namespace

std::shared_ptr<graph::Graph> reserve_draws(const std::shared_ptr<graph::Graph>& graph) {
  if (!is_fusion_on()) return graph;
  const auto nodes = graph->nodes();
  const bool draws = std::any_of(nodes.begin(), nodes.end(),
                                 [](const graph::Node* node) { return is_draw(*node); });
  return draws ? Reserver(*graph).run() : graph;
}

}  // namespace tidemark::compile
