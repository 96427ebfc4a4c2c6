#include "tidemark/trace/graph_gradient.h"

#include <algorithm>
#include <set>

#include "tidemark/graph/graph.h"
#include "tidemark/graph/recording.h"
#include "tidemark/tensor/storage.h"
#include "tidemark/trace/builder.h"
#include "tidemark/trace/infer.h"
#include "tidemark/trace/specials.h"

namespace tidemark::trace {

namespace {

class Opaque final : public autodiff::CustomBackward {
 public:
  std::vector<autodiff::Adjoint> run(std::span<const Tensor>) override {
    throw ValueUnknownError("the gradient across this step is known only when the graph runs");
  }
};

/// Stands for a step of a graph around the one being built, whose run cannot be recorded from here.
class OpaqueOutside final : public autodiff::CustomBackward {
 public:
  std::vector<autodiff::Adjoint> run(std::span<const Tensor>) override {
    fail<UnimplementedError>(
        "a gradient asked for inside of a loop, a branch or a function goes through a step outside "
        "of it that only the run can look into (a loop or branch that reads variables); compute "
        "the gradient outside, and use its result inside");
  }
};

/// The way from an input of a graph to the tensor around it that it stands for.
class Outwards final : public autodiff::CustomBackward {
 public:
  std::vector<autodiff::Adjoint> run(std::span<const Tensor> dy) override {
    std::vector<autodiff::Adjoint> out(1);
    out[0].values = dy[0];
    return out;
  }
};

/// Those that are the program's own.
std::vector<Tensor> outputs_of(graph::Node& node) {
  std::vector<Tensor> out;
  const std::optional<size_t> records =
      node.special ? node.special->round_records_at() : std::nullopt;
  for (uint32_t i = 0; i < records.value_or(node.outputs.size()); ++i) {
    out.push_back(graph::output_of(node, i, imagine(node.outputs[i].shape)));
  }
  return out;
}

/// Tensors with values that tapes may watch: the steps of graphs refer to them as they are.
void add_values(std::span<const Tensor> tensors, std::vector<Tensor>& out) {
  for (const Tensor& t : tensors) {
    if (!t.is_symbolic() && (is_floating(t.dtype()) || is_complex(t.dtype()))) out.push_back(t);
  }
}

void add_readings(const graph::Graph& graph, std::vector<Tensor>& out) {
  add_values(graph.outputs(), out);
  for (graph::Node* node : graph.nodes()) {
    add_values(node->inputs, out);
    if (node->op) continue;
    if (node->inputs.empty() && node->outputs.size() == 1 && node->outputs[0].id != 0 &&
        !graph::is_placeholder(*node)) {
      out.push_back(graph::output_of(*node, 0));
    }
    for (const graph::InnerGraph& inner : node->special->inner_graphs()) {
      add_readings(*inner.graph, out);
    }
  }
}

/// All variables that it computes from, and what the tape watches, come in by its inputs, and it
/// knows the way back.
bool is_open(const graph::Node& node, const autodiff::Tape& tape) {
  if (!node.special->differentiable()) return false;
  std::vector<Tensor> readings;
  for (const graph::InnerGraph& inner : node.special->inner_graphs()) {
    if (inner.role != graph::InnerGraph::Role::condition) add_readings(*inner.graph, readings);
  }
  return std::ranges::none_of(
      readings, [&](const Tensor& t) { return t.is_symbolic() || tape.is_watched(t); });
}

/// The gradient across a step as further steps of its graph.
class AcrossStep final : public autodiff::CustomBackward {
 public:
  AcrossStep(graph::Node& node, std::vector<bool> wanted)
      : node_(graph::NodeRef::share(&node)), wanted_(std::move(wanted)) {}
  std::vector<autodiff::Adjoint> run(std::span<const Tensor> dy) override {
    const std::shared_ptr<const graph::Special> special = node_->special;  // may become another
    std::vector<Tensor> dx = special->differentiable()->add_gradient(*node_, dy, wanted_);
    std::vector<autodiff::Adjoint> out(dx.size());
    for (size_t i = 0; i < out.size(); ++i) out[i].values = std::move(dx[i]);
    return out;
  }

 private:
  const graph::NodeRef node_;
  const std::vector<bool> wanted_;
};

/// Its inputs, and what is read inside.
std::vector<Tensor> seen_by(const graph::Node& node, const autodiff::Tape& tape) {
  std::vector<Tensor> seen = readings_inside(*node.special);
  seen.insert(seen.end(), node.inputs.begin(), node.inputs.end());
  for (const Variable& variable : graph::effects_of(node).reads) {
    if (tape.is_watched(variable.id())) seen.push_back(variable.operand());
  }
  return seen;
}

/// As note_steps, also the steps of the graphs around the builder's that what it uses comes from.
void note_across(autodiff::Tape& tape, const GraphBuilder& builder, std::vector<Tensor> tensors,
                 std::span<const Tensor> stops) {
  const GraphBuilder* around = builder.around();
  if (!around) return note_steps(tape, tensors, stops);
  const uint64_t id = builder.graph()->id();
  const auto outside = std::stable_partition(tensors.begin(), tensors.end(), [&](const Tensor& t) {
    return t.is_symbolic() && graph::node_of(t).graph_id == id;
  });
  std::vector<Tensor> outer(outside, tensors.end());
  tensors.erase(outside, tensors.end());
  const std::vector<Tensor>& captures = builder.captures();
  outer.insert(outer.end(), captures.begin(), captures.end());
  note_across(tape, *around, std::move(outer), stops);
  const std::vector<Tensor>& inputs = builder.graph()->inputs();
  const size_t first = inputs.size() - captures.size();
  for (size_t i = 0; i < captures.size(); ++i) {
    tape.record({&captures[i], 1}, {&inputs[first + i], 1}, std::make_shared<Outwards>());
  }
  note_steps(tape, tensors, stops);
}

}  // namespace

const std::shared_ptr<autodiff::CustomBackward>& opaque_backward() {
  static const auto& shared =
      *new std::shared_ptr<autodiff::CustomBackward>(std::make_shared<Opaque>());
  return shared;
}

std::vector<Tensor> readings_inside(const graph::Special& special) {
  std::vector<Tensor> out;
  for (const graph::InnerGraph& inner : special.inner_graphs()) add_readings(*inner.graph, out);
  return out;
}

void note_steps(autodiff::Tape& tape, std::span<const Tensor> tensors,
                std::span<const Tensor> stops) {
  std::set<const graph::Node*> stopping;
  for (const Tensor& t : stops) {
    if (t.is_symbolic()) stopping.insert(&graph::node_of(t));
  }
  const GraphBuilder* builder = current_builder();
  for (graph::Node* node : graph::nodes_for(tensors, {})) {
    const bool gives_value = graph::is_placeholder(*node) || node->special == constant_special() ||
                             graph::shown_variable(*node);
    if (gives_value || node->outputs.empty()) continue;
    const std::vector<Tensor> outputs = outputs_of(*node);
    if (node->op) {
      tape.note({*node->op, node->inputs, node->attrs}, outputs);
    } else if (is_open(*node, tape)) {
      std::vector<bool> wanted;
      for (const Tensor& t : node->inputs) wanted.push_back(tape.is_watched(t));
      tape.record(node->inputs, outputs, std::make_shared<AcrossStep>(*node, std::move(wanted)));
    } else {
      const bool is_outside = builder && node->graph_id != builder->graph()->id();
      tape.record(seen_by(*node, tape), outputs,
                  is_outside ? std::make_shared<OpaqueOutside>() : opaque_backward());
    }
    if (!stopping.contains(node)) continue;
    for (const Tensor& output : outputs) tape.stop_at(output);
  }
}

std::vector<autodiff::Adjoint> gradients(std::span<const Tensor> ys, std::span<const Tensor> xs,
                                         std::span<const Tensor> seeds,
                                         std::span<const Tensor> stops) {
  autodiff::Tape tape({.persistent = false, .watch_accessed_variables = false});
  std::vector<uint64_t> ids;
  for (const Tensor& x : xs) {
    tape.watch(x);
    ids.push_back(id_of(x));
  }
  if (const GraphBuilder* builder = current_builder()) {
    note_across(tape, *builder, {ys.begin(), ys.end()}, stops);
  } else {
    note_steps(tape, ys, stops);
  }
  return tape.gradient(ys, ids, seeds, xs);
}

}  // namespace tidemark::trace
