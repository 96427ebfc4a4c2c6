#include "tidemark/trace/builder.h"

#include "tidemark/autodiff/tape.h"
#include "tidemark/comm/shared_out.h"
#include "tidemark/graph/donated.h"
#include "tidemark/tensor/handlers.h"
#include "tidemark/tensor/kept_for_runs.h"
#include "tidemark/trace/graph_gradient.h"
#include "tidemark/trace/infer.h"
#include "tidemark/trace/specials.h"

namespace tidemark::trace {

// Every last handler is a builder, or stands for one of another thread.
GraphBuilder* current_builder() noexcept {
  LastHandler* answers = last_handler();
  return answers ? static_cast<GraphBuilder*>(&answers->origin()) : nullptr;
}

namespace {
thread_local std::string scope_of_names;
}
void set_name_scope(std::string scope) { scope_of_names = std::move(scope); }
const std::string& name_scope() noexcept { return scope_of_names; }

GraphBuilder::GraphBuilder(std::string name)
    : graph_(graph::Graph::create(std::move(name))),
      around_(current_builder()),
      placement_depth_(around_ ? around_->placement_depth_ : placement_depth()) {}

GraphBuilder::GraphBuilder(std::shared_ptr<graph::Graph> shared)
    : graph_(std::move(shared)), is_shared_(true), placement_depth_(0) {}

graph::NodeRef GraphBuilder::new_node() {
  graph::NodeRef node = graph_->new_node();
  node->before = before_;
  node->wish = placed_since(placement_depth_);
  return node;
}

void GraphBuilder::name(graph::Node& node) {
  std::string given = std::exchange(next_label_, {});
  if (!is_shared_) {  // few ask for the names inside functions: graph::name_of makes them up
    node.label = std::move(given);
    return;
  }
  if (given.empty()) given = graph_->default_name(graph::kind_of(node));
  graph_->set_name(node, name_scope() + given);
}

Tensor GraphBuilder::add_placeholder(DType dtype, const Shape& shape) {
  const graph::NodeRef node = new_node();
  node->special = graph::placeholder_special();
  node->outputs.push_back({dtype, shape});
  name(*node);
  return graph::output_of(*node, 0, imagine(shape));
}

Tensor GraphBuilder::add_input(DType dtype, const Shape& shape, Device device) {
  return graph_->add_input(dtype, shape, imagine(shape), device);
}

Tensor GraphBuilder::constant(const Tensor& value) {
  if (value.is_symbolic()) return own(value);
  const graph::NodeRef node = new_node();
  node->special = constant_special();
  node->inputs.push_back(kept_for_runs(value));
  node->outputs.push_back({value.dtype(), value.shape()});
  name(*node);
  return graph::output_of(*node, 0, imagine_value(value));
}

Tensor GraphBuilder::own(const Tensor& t) {
  if (!t.is_symbolic()) return kept_for_runs(t);
  const graph::Node& node = graph::node_of(t);
  if (node.graph_id == graph_->id()) return t;
  if (graph::is_donated(t)) fail<FailedPreconditionError>(graph::describe_donated(t));
  const std::pair key(&node, graph::symbolic(t).index);
  if (const auto known = inner_of_.find(key); known != inner_of_.end()) return known->second;
  if (is_shared_) {
    fail<OutOfScopeError>("the tensor ", graph::describe(t),
                          " must be from the same graph as what it is used with. Make it in this "
                          "graph, or feed its value");
  }
  if (!around_) {
    fail<OutOfScopeError>("the tensor ", graph::describe(t),
                          " is out of scope and cannot be used here: it belongs to another graph. "
                          "Return it from the function that made "
                          "it, or compute it again");
  }
  const Tensor outer = around_->own(t);
  const graph::Imagined* imagined = graph::symbolic(outer).imagined.get();
  Tensor inner = graph_->add_input(
      t.dtype(), t.shape(), imagined ? std::make_unique<graph::Imagined>(*imagined) : nullptr);
  inner_of_.emplace(key, inner);
  captures_.push_back(outer);
  return inner;
}

void GraphBuilder::handle(const OpCall& call, std::span<Tensor> outputs) {
  std::vector<Tensor> inputs;
  inputs.reserve(call.inputs.size());
  for (const Tensor& t : call.inputs) inputs.push_back(own(t));
  std::vector<Inferred> inferred = infer({call.op, inputs, call.attrs}, outputs.size());
  const graph::NodeRef node = new_node();
  node->op = &call.op;
  node->attrs.assign(call.attrs.begin(), call.attrs.end());
  node->inputs = std::move(inputs);
  for (Inferred& out : inferred) node->outputs.push_back({out.dtype, out.shape});
  name(*node);
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i] = graph::output_of(*node, static_cast<uint32_t>(i), std::move(inferred[i].imagined));
  }
  if (call.op.is_stateful() && !is_shared_) graph_->keep(node);
}

graph::NodeRef GraphBuilder::add_special(const std::shared_ptr<const graph::Special>& special,
                                         std::span<const graph::OutputInfo> infos,
                                         std::span<const Tensor> inputs,
                                         std::span<Tensor> outputs) {
  graph::NodeRef node = new_node();
  node->special = special;
  for (const Tensor& t : inputs) node->inputs.push_back(own(t));
  node->outputs.assign(infos.begin(), infos.end());
  name(*node);
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i] = graph::output_of(*node, static_cast<uint32_t>(i), imagine(infos[i].shape));
  }
  if (special->effects().must_run && !is_shared_) graph_->keep(node);
  return node;
}

void GraphBuilder::handle_step(const std::shared_ptr<const graph::Special>& special,
                               std::span<const graph::OutputInfo> infos, std::span<Tensor> inputs,
                               std::span<Tensor> outputs) {
  if (const Variable* shown = special->shown_variable()) {
    outputs[0] = read(*shown);
    return;
  }
  const graph::NodeRef node = add_special(special, infos, inputs, outputs);
  if (const uint64_t variable = comm::gathered_variable(*node)) {
    standing_.emplace(variable, outputs[0]);
  }
  const graph::Effects effects = special->effects();
  if (effects.may_change_variables()) readings_.clear();
  if (outputs.empty()) return;
  // Variables read inside take part too.
  std::vector<Tensor> seen = readings_inside(*special);
  seen.insert(seen.end(), inputs.begin(), inputs.end());
  for (const Variable& variable : effects.reads) {
    note(variable);
    seen.push_back(read(variable));
  }
  autodiff::record_custom(seen, outputs, opaque_backward());
}

Tensor GraphBuilder::standing_for(uint64_t variable) {
  for (GraphBuilder* builder = this; builder; builder = builder->around_) {
    const auto known = builder->standing_.find(variable);
    if (known != builder->standing_.end()) return own(known->second);
  }
  return {};
}

void GraphBuilder::note(const Variable& variable) {
  for (const Variable& known : variables_) {
    if (known == variable) return;
  }
  variables_.push_back(variable);
}

Tensor GraphBuilder::read(const Variable& variable) {
  if (const auto* parts = comm::SharedOutScope::find(variable)) return parts->value();
  if (const auto known = readings_.find(variable.id()); known != readings_.end()) {
    return known->second;
  }
  note(variable);
  const graph::NodeRef node = new_node();
  node->special = std::make_shared<ReadVariable>(variable);
  node->outputs.push_back({variable.dtype(), variable.shape(), variable.id()});
  name(*node);
  Tensor out = graph::output_of(*node, 0, imagine(variable.shape()));
  if (!is_shared_) readings_.emplace(variable.id(), out);
  return out;
}

void GraphBuilder::update(const Variable& variable, const OpDef* op, std::span<const Tensor> rest,
                          std::span<const Attr> attrs) {
  if (const auto* parts = comm::SharedOutScope::find(variable)) {
    return parts->update(op, rest, attrs);
  }
  note(variable);
  const graph::NodeRef node = new_node();
  node->special = std::make_shared<UpdateVariable>(
      graph::VariableUpdate{variable, op, std::vector<Attr>(attrs.begin(), attrs.end())});
  for (const Tensor& t : rest) node->inputs.push_back(own(t));
  name(*node);
  if (!is_shared_) graph_->keep(node);
  readings_.erase(variable.id());
}

std::shared_ptr<graph::Graph> GraphBuilder::finish(std::span<const Tensor> outputs) {
  std::vector<Tensor> own_outputs;
  for (const Tensor& t : outputs) own_outputs.push_back(own(t));
  graph_->set_outputs(std::move(own_outputs));
  readings_.clear();
  standing_.clear();
  for (const Variable& variable : variables_) {
    if (around_) around_->note(variable);
  }
  return graph_;
}

}  // namespace tidemark::trace
