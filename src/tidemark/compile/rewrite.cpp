#include "tidemark/compile/rewrite.h"

#include <algorithm>

#include "tidemark/graph/line_of.h"
#include "tidemark/graph/specials.h"

namespace tidemark::compile {

namespace {

std::unique_ptr<graph::Imagined> imagined_of(const Tensor& t) {
  const auto& known = graph::symbolic(t).imagined;
  return known ? std::make_unique<graph::Imagined>(*known) : nullptr;
}

}  // namespace

Rewriter::Rewriter(const graph::Graph& from) : from_(from), to_(graph::Graph::create(from.name())) {
  for (const Tensor& t : from.inputs()) {
    const graph::LineOf line(graph::node_of(t));
    tensors_[{&graph::node_of(t), 0}] =
        to_->add_input(t.dtype(), t.shape(), imagined_of(t), t.device());
  }
}

Tensor Rewriter::at(const Tensor& old) {
  if (!old.is_symbolic()) return old;
  const std::pair key(&graph::node_of(old), graph::symbolic(old).index);
  const auto known = tensors_.find(key);
  if (known != tensors_.end()) return known->second;
  const auto node = nodes_.find(key.first);
  if (node == nodes_.end()) {
    fail<InternalError>("a pass used ", graph::describe(old), " before anything stood for it");
  }
  return tensors_[key] = graph::output_of(*node->second, key.second, imagined_of(old));
}

std::vector<Tensor> Rewriter::at(std::span<const Tensor> old) {
  std::vector<Tensor> out;
  out.reserve(old.size());
  for (const Tensor& t : old) out.push_back(at(t));
  return out;
}

void Rewriter::set(const graph::Node& old, uint32_t output, const Tensor& now) {
  tensors_[{&old, output}] = now;
}

graph::NodeRef Rewriter::new_node(const graph::Node& like) {
  const graph::LineOf line(like);
  graph::NodeRef node = to_->new_node();
  node->wish = like.wish;
  return node;
}

/// What runs where the old node ran: itself, or what its first output became.
graph::NodeRef Rewriter::now_of(const graph::Node& old) const {
  if (const auto node = nodes_.find(&old); node != nodes_.end()) return node->second;
  const auto known = tensors_.find({&old, 0});
  if (known == tensors_.end() || !known->second.is_symbolic()) return {};
  return graph::NodeRef::share(&graph::node_of(known->second));
}

graph::NodeRef Rewriter::copy(const graph::Node& old) { return copy_over(old, at(old.inputs)); }

graph::NodeRef Rewriter::copy_over(const graph::Node& old, std::vector<Tensor> inputs) {
  const graph::NodeRef node = new_node(old);
  node->op = old.op;
  node->special = old.special;
  node->attrs = old.attrs;
  node->label = old.label;
  node->outputs = old.outputs;
  node->inputs = std::move(inputs);
  for (const graph::NodeRef& before : old.before) {
    if (graph::NodeRef now = now_of(*before)) node->before.push_back(std::move(now));
  }
  if (!nodes_.emplace(&old, node).second) return node;
  const auto is_it = [&](const graph::NodeRef& kept) { return kept.get() == &old; };
  if (std::any_of(from_.effects().begin(), from_.effects().end(), is_it)) to_->keep(node);
  return node;
}

Tensor Rewriter::add(const OpDef& op, std::vector<Tensor> inputs, std::vector<Attr> attrs,
                     const graph::Node& like) {
  const OpCall call{op, inputs, attrs};
  InferContext said(call, op.num_outputs(attrs));
  op.shape_rule()(said);
  const graph::NodeRef node = new_node(like);
  node->op = &op;
  const Device device = graph::device_of(like);
  for (int i = 0; i < said.num_outputs(); ++i) {
    node->outputs.push_back({said.output(i).dtype, said.output(i).shape, 0, device});
  }
  node->inputs = std::move(inputs);
  node->attrs = std::move(attrs);
  return graph::output_of(*node, 0);
}

graph::NodeRef Rewriter::add(std::shared_ptr<const graph::Special> special,
                             std::vector<Tensor> inputs, std::vector<graph::OutputInfo> outputs,
                             const graph::Node& like) {
  graph::NodeRef node = new_node(like);
  node->special = std::move(special);
  node->inputs = std::move(inputs);
  node->outputs = std::move(outputs);
  return node;
}

std::shared_ptr<graph::Graph> Rewriter::finish() {
  to_->set_outputs(at(from_.outputs()));
  return std::move(to_);
}

Tensor constant_value(const Tensor& t) {
  if (!t.is_symbolic()) return t.to(Device());
  const graph::Node& node = graph::node_of(t);
  if (graph::is_constant(node)) return node.inputs[0].to(Device());
  return graph::known_value(t);
}

}  // namespace tidemark::compile
