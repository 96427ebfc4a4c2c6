#include "tidemark/graph/compare.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <unordered_map>

namespace tidemark::graph {

namespace {

constexpr size_t kMostBytesCompared = 4096;

class Comparison {
 public:
  explicit Comparison(Lines lines) : lines_(lines) {}

  bool same(const Graph& a, const Graph& b) {
    if (a.effects().size() != b.effects().size()) return false;
    if (lines_ == Lines::compared && a.name() != b.name()) return false;
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
    if (lines_ == Lines::compared && a.site != b.site) return false;
    if (a.op != b.op || !a.special != !b.special || a.attrs != b.attrs) return false;
    if (a.wish != b.wish) return false;
    if (a.special && !a.special->is_same(*b.special)) return false;
    if (is_placeholder(a) && partner_[&a] != &b) return false;
    if (a.outputs.size() != b.outputs.size()) return false;
    for (size_t i = 0; i < a.outputs.size(); ++i) {
      if (a.outputs[i].dtype != b.outputs[i].dtype) return false;
      if (a.outputs[i].shape != b.outputs[i].shape) return false;
    }
    return same(a.before, b.before) && same(a.inputs, b.inputs);
  }

  bool same(const std::vector<NodeRef>& a, const std::vector<NodeRef>& b) {
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(),
        [&](const NodeRef& x, const NodeRef& y) { return partner_[x.get()] == y.get(); });
  }

  bool same(std::span<const Tensor> a, std::span<const Tensor> b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i].is_symbolic() != b[i].is_symbolic()) return false;
      if (!a[i].is_symbolic()) {
        if (!are_same_constants(a[i], b[i], kMostBytesCompared)) return false;
      } else if (partner_[&node_of(a[i])] != &node_of(b[i]) ||
                 symbolic(a[i]).index != symbolic(b[i]).index) {
        return false;
      }
    }
    return true;
  }

  const Lines lines_;
  std::unordered_map<const Node*, const Node*> partner_;
};

/// By its bytes, which the host has.
bool can_be_compared(const Tensor& t, size_t most_bytes) {
  return t.dtype() != DType::string && t.nbytes() <= most_bytes && t.device().is_cpu();
}

class Hash {
 public:
  void add(uint64_t value) { state_ = (std::rotl(state_, 23) ^ value) * 0x9e3779b97f4a7c15u; }
  void add(std::string_view text) { add(std::hash<std::string_view>{}(text)); }
  void add(const Shape& shape) {
    add(static_cast<uint64_t>(shape.has_rank() ? shape.rank() : -1));
    if (!shape.has_rank()) return;
    for (int64_t size : shape) add(static_cast<uint64_t>(size));
  }
  void add(const Tensor& t) {
    if (t.is_symbolic()) return add(symbolic(t).index);
    add(t.shape());
    if (!can_be_compared(t, kMostBytesCompared)) return;
    add(std::string_view(static_cast<const char*>(t.raw_data()), t.nbytes()));
  }
  uint64_t value() const { return state_ ^ (state_ >> 31); }

 private:
  uint64_t state_ = 0;
};

}  // namespace

bool are_same(const Graph& a, const Graph& b, Lines lines) {
  return &a == &b || Comparison(lines).same(a, b);
}

bool are_same_constants(const Tensor& a, const Tensor& b, size_t most_bytes) {
  if (a.impl() == b.impl()) return true;
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (!can_be_compared(a, most_bytes) || !can_be_compared(b, most_bytes)) return false;
  return a.nbytes() == 0 || std::memcmp(a.raw_data(), b.raw_data(), a.nbytes()) == 0;
}

uint64_t content_hash(const Graph& graph) {
  Hash hash;
  for (const Tensor& t : graph.inputs()) {
    hash.add(static_cast<uint64_t>(t.dtype()));
    hash.add(t.shape());
  }
  for (const Node* node : graph.nodes()) {
    hash.add(kind_of(*node));
    hash.add(node->inputs.size());
    for (const Tensor& t : node->inputs) hash.add(t);
    for (const OutputInfo& info : node->outputs) {
      hash.add(static_cast<uint64_t>(info.dtype));
      hash.add(info.shape);
    }
  }
  for (const Tensor& t : graph.outputs()) hash.add(t);
  return hash.value();
}

}  // namespace tidemark::graph
