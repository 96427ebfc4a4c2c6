#include "tidemark/compile/pass.h"
#include "tidemark/compile/rewrite.h"
#include "tidemark/graph/compare.h"

namespace tidemark::compile {

namespace {

/// Constants above this are equal only where they are one.
constexpr size_t kMostBytesCompared = 256;

bool may_be_shared(const graph::Node& node) {
  return node.before.empty() && graph::effects_of(node).is_pure();
}

bool same_tensor(const Tensor& a, const Tensor& b) {
  if (a.is_symbolic() != b.is_symbolic()) return false;
  if (!a.is_symbolic()) return graph::are_same_constants(a, b, kMostBytesCompared);
  return &graph::node_of(a) == &graph::node_of(b) &&
         graph::symbolic(a).index == graph::symbolic(b).index;
}

void mix(size_t& hash, size_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
}

/// By what does not depend on where constants lie.
size_t hash_of(const graph::Node& node, std::span<const Tensor> inputs) {
  size_t hash = node.op ? reinterpret_cast<size_t>(node.op)
                        : std::hash<std::string_view>()(node.special->name());
  for (const Tensor& t : inputs) {
    if (t.is_symbolic()) {
      mix(hash, reinterpret_cast<size_t>(&graph::node_of(t)));
      mix(hash, graph::symbolic(t).index);
    } else {
      mix(hash, static_cast<size_t>(t.num_elements()));
    }
  }
  return hash;
}

/// Looks among the nodes of the new graph for one that does the same.
class Known {
 public:
  const graph::Node* find(size_t hash, const graph::Node& candidate,
                          std::span<const Tensor> inputs) const {
    const auto [first, last] = all_.equal_range(hash);
    for (auto at = first; at != last; ++at) {
      if (is_same(*at->second, candidate, inputs)) return at->second;
    }
    return nullptr;
  }
  void add(size_t hash, const graph::Node& node) { all_.emplace(hash, &node); }

 private:
  static bool is_same(const graph::Node& made, const graph::Node& candidate,
                      std::span<const Tensor> inputs) {
    if (made.op != candidate.op || made.attrs != candidate.attrs) return false;
    if (made.wish != candidate.wish) return false;
    if (!made.op && made.special != candidate.special &&
        !made.special->is_same(*candidate.special)) {
      return false;
    }
    if (made.inputs.size() != inputs.size()) return false;
    if (made.outputs.size() != candidate.outputs.size()) return false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!same_tensor(made.inputs[i], inputs[i])) return false;
    }
    for (size_t i = 0; i < made.outputs.size(); ++i) {
      if (made.outputs[i].dtype != candidate.outputs[i].dtype) return false;
      if (made.outputs[i].shape != candidate.outputs[i].shape) return false;
    }
    return true;
  }

  std::unordered_multimap<size_t, const graph::Node*> all_;
};

}  // namespace

std::shared_ptr<graph::Graph> share_equal(const std::shared_ptr<graph::Graph>& graph) {
  Rewriter now(*graph);
  Known known;
  std::vector<graph::NodeRef> alive;  // `known` points to them
  bool changed = false;
  for (const graph::Node* node : graph->nodes()) {
    if (graph::is_placeholder(*node)) continue;
    if (!may_be_shared(*node)) {
      now.copy(*node);
      continue;
    }
    const std::vector<Tensor> inputs = now.at(node->inputs);
    const size_t hash = hash_of(*node, inputs);
    const graph::Node* same = known.find(hash, *node, inputs);
    if (!same) {
      alive.push_back(now.copy(*node));
      known.add(hash, *alive.back());
      continue;
    }
    changed = true;
    for (uint32_t i = 0; i < node->outputs.size(); ++i) {
      now.set(*node, i, graph::output_of(const_cast<graph::Node&>(*same), i));
    }
  }
  return changed ? now.finish() : graph;
}

}  // namespace tidemark::compile
