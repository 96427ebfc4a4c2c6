// Transposes of transposes become one or none, those that move no element become reshapes, and
// products read their operands, or write their results, the other way around.

#include <unordered_map>

#include "tidemark/compile/pass.h"
#include "tidemark/compile/rewrite.h"
#include "tidemark/compile/transposes.h"

namespace tidemark::compile {

namespace {

class Eliminator {
 public:
  explicit Eliminator(const graph::Graph& graph) : now_(graph) {
    for (const graph::Node* node : graph.nodes()) {
      for (const Tensor& t : node->inputs) count(t);
    }
    for (const Tensor& t : graph.outputs()) count(t);
  }

  /// Null: nothing is left out.
  std::shared_ptr<graph::Graph> run() {
    const bool changed = now_.replace([&](const graph::Node& node) { return replacement(node); });
    return changed ? now_.finish() : nullptr;
  }

 private:
  void count(const Tensor& t) {
    if (t.is_symbolic()) ++uses_[&graph::node_of(t)];
  }

  Tensor replacement(const graph::Node& node) {
    if (!node.op || !node.before.empty()) return {};
    if (node.op->name() == "matmul") return product(node);
    const auto permutation = permutation_of(node);
    return permutation ? transpose(node, *permutation) : Tensor();
  }

  Tensor transpose(const graph::Node& node, const Ints& given) {
    Ints permutation = given;
    Tensor source = now_.at(node.inputs[0]);
    const auto before = permutation_of(source);
    if (before) {
      permutation = composed(*before, given);
      source = graph::node_of(source).inputs[0];
    }
    if (is_identity(permutation)) return source;
    if (is_reshape(permutation, source.shape())) return reshaped(node, source);
    if (const Tensor other = of_product(node, given)) return other;
    if (!before) return {};
    return now_.add(*node.op, {source}, {Attr(permutation), Attr(false)}, node);
  }

  Tensor reshaped(const graph::Node& node, const Tensor& source) {
    const Shape& shape = node.outputs[0].shape;
    const std::vector<int64_t> dims(shape.begin(), shape.end());
    const Tensor wanted = Tensor::of(std::span<const int64_t>(dims), {shape.rank()});
    return now_.add(OpRegistry::instance().get("reshape"), {source, wanted}, {}, node);
  }

  /// (A B)^T = B^T A^T, where nobody else needs A B.
  Tensor of_product(const graph::Node& node, const Ints& permutation) {
    const graph::Node* product = made_by(node.inputs[0], "matmul");
    if (!product || uses_[product] != 1 || !swaps_last_two(permutation)) return {};
    if (is_complex(node.outputs[0].dtype)) return {};
    const graph::Node& made = graph::node_of(now_.at(node.inputs[0]));
    const bool a = is_turned(made, 0), b = is_turned(made, 1);
    return now_.add(*made.op, {made.inputs[1], made.inputs[0]},
                    {Attr(!b), Attr(!a), Attr(false), Attr(false)}, node);
  }

  static bool is_turned(const graph::Node& product, size_t operand) {
    return product.attrs[operand].as_bool() || product.attrs[operand + 2].as_bool();
  }

  /// Reads transposed operands as they were before.
  Tensor product(const graph::Node& node) {
    if (is_complex(node.outputs[0].dtype)) return {};
    std::vector<Tensor> inputs = now_.at(node.inputs);
    bool turned[2] = {is_turned(node, 0), is_turned(node, 1)};
    bool changed = false;
    for (size_t i = 0; i < 2; ++i) {
      const auto permutation = permutation_of(inputs[i]);
      if (!permutation || !swaps_last_two(*permutation)) continue;
      // The rows of a batch times one matrix are the rows of one product, as long as they lie so.
      if (i == 0 && !turned[0] && inputs[0].rank() > 2 && inputs[1].rank() == 2) continue;
      inputs[i] = graph::node_of(inputs[i]).inputs[0];
      turned[i] = !turned[i];
      changed = true;
    }
    if (!changed) return {};
    return now_.add(*node.op, std::move(inputs),
                    {Attr(turned[0]), Attr(turned[1]), Attr(false), Attr(false)}, node);
  }

  Rewriter now_;
  std::unordered_map<const graph::Node*, int> uses_;
};

}  // namespace

std::shared_ptr<graph::Graph> eliminate_transposes(const std::shared_ptr<graph::Graph>& graph) {
  std::shared_ptr<graph::Graph> better = Eliminator(*graph).run();
  return better ? better : graph;
}

}  // namespace tidemark::compile
