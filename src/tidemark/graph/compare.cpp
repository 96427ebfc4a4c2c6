#include "tidemark/graph/compare.h"

#include <cstring>
#include <unordered_map>

namespace tidemark::graph {

namespace {

constexpr size_t kMostBytesCompared = 4096;

bool same_constants(const Tensor& a, const Tensor& b) {
  if (a.impl() == b.impl()) return true;
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.dtype() == DType::string || a.nbytes() > kMostBytesCompared) return false;
  return a.nbytes() == 0 || std::memcmp(a.raw_data(), b.raw_data(), a.nbytes()) == 0;
}

class Comparison {
 public:
  bool same(const Graph& a, const Graph& b) {
    if (a.effects().size() != b.effects().size()) return false;
    if (!pair_inputs(a.inputs(), b.inputs())) return false;
    const std::vector<Node*> first = a.nodes(), second = b.nodes();
    if (first.size() != second.size()) return false;
    for (size_t i = 0; i < first.size(); ++i) {
      if (!same(*first[i], *second[i])) return false;
      partner_[first[i]] = second[i];
    }
    return same(a.outputs(), b.outputs());
  }

 private:
  bool pair_inputs(std::span<const Tensor> a, std::span<const Tensor> b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i].dtype() != b[i].dtype() || a[i].shape() != b[i].shape()) return false;
      partner_[&node_of(a[i])] = &node_of(b[i]);
    }
    return true;
  }

  bool same(const Node& a, const Node& b) {
    if (a.op != b.op || !a.special != !b.special || a.attrs != b.attrs) return false;
    if (a.special && !a.special->is_same(*b.special)) return false;
    if (is_placeholder(a) && partner_[&a] != &b) return false;
    if (a.outputs.size() != b.outputs.size()) return false;
    for (size_t i = 0; i < a.outputs.size(); ++i) {
      if (a.outputs[i].dtype != b.outputs[i].dtype) return false;
      if (a.outputs[i].shape != b.outputs[i].shape) return false;
    }
    return same(a.inputs, b.inputs);
  }

  bool same(std::span<const Tensor> a, std::span<const Tensor> b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i].is_symbolic() != b[i].is_symbolic()) return false;
      if (!a[i].is_symbolic()) {
        if (!same_constants(a[i], b[i])) return false;
      } else if (partner_[&node_of(a[i])] != &node_of(b[i]) ||
                 symbolic(a[i]).index != symbolic(b[i]).index) {
        return false;
      }
    }
    return true;
  }

  std::unordered_map<const Node*, const Node*> partner_;
};

}  // namespace

bool are_same(const Graph& a, const Graph& b) { return &a == &b || Comparison().same(a, b); }

}  // namespace tidemark::graph
