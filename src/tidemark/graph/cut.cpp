#include "tidemark/graph/cut.h"

#include <algorithm>

#include "tidemark/graph/line_of.h"

namespace tidemark::graph {

namespace {

class Cutter {
 public:
  explicit Cutter(std::span<const Tensor> inputs) : part_(Graph::create("part")) {
    for (const Tensor& t : inputs) {
      const LineOf line(node_of(t));
      given_[{&node_of(t), symbolic(t).index}] = part_->add_input(t.dtype(), t.shape());
    }
  }

  std::shared_ptr<Graph> cut(std::span<const Tensor> outputs, std::span<const NodeRef> effects) {
    for (const Tensor& t : outputs) need(t);
    for (const NodeRef& effect : effects) need(*effect);
    for (size_t i = 0; i < needed_.size(); ++i) {
      for (const Tensor& t : needed_[i]->inputs) need(t);
      for (const NodeRef& before : needed_[i]->before) need(*before);
    }
    std::sort(needed_.begin(), needed_.end(),
              [](const Node* a, const Node* b) { return a->sequence < b->sequence; });
    for (const Node* node : needed_) copy(*node);
    part_->set_outputs(at(outputs));
    for (const NodeRef& effect : effects) {
      if (const NodeRef now = at(*effect)) part_->keep(now);
    }
    return std::move(part_);
  }

 private:
  bool is_given(const Node& node, uint32_t output) const {
    return given_.contains({&node, output});
  }
  void need(const Tensor& t) {
    if (t.is_symbolic() && !is_given(node_of(t), symbolic(t).index)) add(node_of(t));
  }
  /// It runs, unless all that it could give is given.
  void need(const Node& node) {
    bool gives_more = node.outputs.empty();
    for (uint32_t i = 0; i < node.outputs.size(); ++i) gives_more |= !is_given(node, i);
    if (gives_more) add(node);
  }
  void add(const Node& node) {
    if (copies_.try_emplace(&node).second) needed_.push_back(&node);
  }

  void copy(const Node& node) {
    const LineOf line(node);
    const NodeRef now = part_->new_node();
    now->op = node.op;
    now->special = node.special;
    now->attrs = node.attrs;
    now->label = node.label;
    now->wish = node.wish;
    now->outputs = node.outputs;
    now->inputs = at(node.inputs);
    for (const NodeRef& before : node.before) {
      if (NodeRef first = at(*before)) now->before.push_back(std::move(first));
    }
    copies_[&node] = now;
  }

  /// The copy; empty: it was not needed.
  NodeRef at(const Node& node) const {
    const auto known = copies_.find(&node);
    return known == copies_.end() ? NodeRef() : known->second;
  }
  std::vector<Tensor> at(std::span<const Tensor> tensors) const {
    std::vector<Tensor> out;
    for (const Tensor& t : tensors) {
      if (!t.is_symbolic()) {
        out.push_back(t);
      } else if (const auto known = given_.find({&node_of(t), symbolic(t).index});
                 known != given_.end()) {
        out.push_back(known->second);
      } else {
        out.push_back(output_of(*at(node_of(t)), symbolic(t).index));
      }
    }
    return out;
  }

  std::shared_ptr<Graph> part_;
  std::map<std::pair<const Node*, uint32_t>, Tensor> given_;
  std::vector<const Node*> needed_;
  std::unordered_map<const Node*, NodeRef> copies_;  // empty until it is made
};

}  // namespace

std::shared_ptr<Graph> cut(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                           std::span<const NodeRef> effects) {
  return Cutter(inputs).cut(outputs, effects);
}

}  // namespace tidemark::graph
