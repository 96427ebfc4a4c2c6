#include "tidemark/plan/lowering.h"

#include <algorithm>

#include "tidemark/base/backend.h"
#include "tidemark/graph/specials.h"
#include "tidemark/ops/arrays.h"
#include "tidemark/ops/in_place.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::plan {

namespace {

using Kind = PlannedStep::Kind;

int64_t known_bytes(const graph::OutputInfo& info) {
  if (!info.shape.is_fully_known()) return 0;
  return static_cast<int64_t>(bytes_for(info.dtype, info.shape.num_elements()));
}

/// A rule may know the shape of a view and not where it starts: that is for a run to tell.
bool is_offset_known(const graph::Node& node, const InferContext& said) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (static_cast<int>(i) != said.output(0).aliased_input &&
        !graph::known_value(node.inputs[i])) {
      return false;
    }
  }
  return true;
}

/// What computes into outputs that are given needs to be given them: a copy of a value whose size
/// only the run can tell runs as a call does.
bool has_known_outputs(const graph::Node& node) {
  return std::all_of(node.outputs.begin(), node.outputs.end(),
                     [](const graph::OutputInfo& out) { return out.shape.is_fully_known(); });
}

/// Lies in memory that is not the graph's.
bool lies_elsewhere(const graph::Node& node) {
  return graph::is_constant(node) || graph::shown_variable(node) != nullptr;
}

}  // namespace

Lowering::Lowering(const graph::Graph& graph) {
  for (const Tensor& t : graph.inputs()) add_values(graph::node_of(t), true);
  for (const graph::Node* node : graph.nodes()) {
    if (!first_value.contains(node)) add_node(*node);
  }
  for (size_t op = 0; op < steps.size(); ++op) find_kept_inputs(*steps[op].node, steps[op]);
  for (const Tensor& t : graph.outputs()) {
    const int value = value_of(t);
    if (value == kNone) continue;
    values[static_cast<size_t>(value)].is_result = true;
    problem.values[static_cast<size_t>(value)].kept = true;
  }
  for (size_t op = 0; op < steps.size(); ++op) {
    find_takeovers(op);
    put_in_order(op);
  }
  for (size_t op = 0; op < steps.size(); ++op) {
    if (steps[op].node->special && steps[op].node->special->goes_on()) keep_beside(op);
  }
}

int Lowering::value_of(const Tensor& t) const {
  if (!t.is_symbolic()) return kNone;
  return first_value.at(&graph::node_of(t)) + static_cast<int>(graph::symbolic(t).index);
}

int Lowering::root_of(int value) const {
  while (problem.values[static_cast<size_t>(value)].view_of != kNone) {
    value = problem.values[static_cast<size_t>(value)].view_of;
  }
  return value;
}

void Lowering::add_values(const graph::Node& node, bool external) {
  first_value.emplace(&node, static_cast<int>(values.size()));
  for (uint32_t i = 0; i < node.outputs.size(); ++i) {
    PlannedValue value;
    value.node = &node;
    value.output = i;
    value.bytes = known_bytes(node.outputs[i]);
    values.push_back(value);
    problem.values.push_back({.bytes = value.bytes, .external = external});
    is_placed_.push_back(0);
  }
}

void Lowering::add_node(const graph::Node& node) {
  add_values(node, lies_elsewhere(node));
  const int first = first_value.at(&node);
  PlannedStep step;
  step.node = &node;
  step.device = graph::device_of(node);
  if (node.op) {
    step.kind = follow_rule(node, step) ? step.kind : Kind::eager;
  } else if (node.special->computes() && has_known_outputs(node)) {
    const bool is_queued = node.special->is_device_code() && !step.device.is_cpu();
    step.kind = is_queued ? Kind::queued : Kind::computing;
    step.workspace = static_cast<int64_t>(node.special->workspace());
  }
  Op op;
  for (const Tensor& t : node.inputs) {
    const int value = value_of(t);
    if (value != kNone) op.inputs.push_back(value);
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    op.outputs.push_back(first + static_cast<int>(i));
    is_placed_[static_cast<size_t>(first) + i] = step.fills_outputs();
  }
  op.workspace = step.workspace;
  if (const Variable* shown = graph::shown_variable(node)) variable_of_[first] = shown->id();
  op_of_.emplace(&node, static_cast<int>(steps.size()));
  steps.push_back(step);
  problem.ops.push_back(std::move(op));
}

/// False: only the run can tell what the op gives.
bool Lowering::follow_rule(const graph::Node& node, PlannedStep& step) {
  const OpDef& op = *node.op;
  if (arrays::is_resizing(op)) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const graph::OutputInfo& out = node.outputs[i];
    if (!out.shape.is_fully_known() || out.dtype == DType::string) return false;
    if (i < 32 && op.has_rows_from_values(static_cast<int>(i))) return false;
  }
  for (const Tensor& t : node.inputs) {
    if (!t.shape().is_fully_known() || t.dtype() == DType::string) return false;
  }
  try {
    const OpCall call{op, node.inputs, node.attrs};
    InferContext said(call, static_cast<int>(node.outputs.size()));
    op.shape_rule()(said);
    std::vector<Shape> shapes;
    for (int i = 0; i < said.num_outputs(); ++i) {
      const auto& out = said.output(i);
      const graph::OutputInfo& known = node.outputs[static_cast<size_t>(i)];
      if (out.shape != known.shape || out.dtype != known.dtype || out.string_bytes > 0) {
        return false;
      }
      shapes.push_back(out.shape);
    }
    if (said.num_outputs() > 0 && said.output(0).aliased_input >= 0) {
      if (!is_offset_known(node, said)) return false;
      make_views(node, said);
      step.kind = Kind::view;
      return true;
    }
    return find_kernel(node, shapes, step);
  } catch (const Error&) {
    return false;  // a value is needed that only the run can tell
  }
}

bool Lowering::find_kernel(const graph::Node& node, std::span<const Shape> shapes,
                           PlannedStep& step) const {
  const OpCall call{*node.op, node.inputs, node.attrs};
  const DType key = node.inputs.empty() ? node.outputs[0].dtype : node.inputs[0].dtype();
  const Kernel* kernel = backend_of(step.device).find_kernel(*node.op, key);
  if (!kernel) return false;
  step.kernel = *kernel;
  step.kind = step.device.is_cpu() ? Kind::kernel : Kind::queued;
  if (step.kernel.workspace) {
    step.workspace = static_cast<int64_t>(step.kernel.workspace(call, shapes));
  }
  return true;
}

void Lowering::make_views(const graph::Node& node, const InferContext& said) {
  const int first = first_value.at(&node);
  for (int i = 0; i < said.num_outputs(); ++i) {
    const auto& out = said.output(i);
    const Tensor& base = node.inputs[static_cast<size_t>(out.aliased_input)];
    PlannedValue& value = values[static_cast<size_t>(first + i)];
    Value& packed = problem.values[static_cast<size_t>(first + i)];
    value.view_offset = out.offset * static_cast<int64_t>(size_of(base.dtype()));
    value.view_of = packed.view_of = value_of(base);
    value.viewed_input = out.aliased_input;
    packed.external = value.view_of == kNone;
  }
}

/// What a step may keep, or make views of that nobody knows of, is not the plan's to place; nor is
/// what a queue reads on the host at a time of its own.
void Lowering::find_kept_inputs(const graph::Node& node, const PlannedStep& step) {
  if (step.kind == Kind::queued) {
    for (const Tensor& t : node.inputs) {
      const int value = value_of(t);
      if (value != kNone && t.device().is_cpu()) {
        is_placed_[static_cast<size_t>(root_of(value))] = 0;
      }
    }
    return;
  }
  const bool keeps = step.kind == Kind::eager
                         ? !node.op->is_elementwise()
                         : step.kind == Kind::special && node.special->keeps_inputs();
  if (!keeps) return;
  for (const Tensor& t : node.inputs) {
    const int value = value_of(t);
    if (value != kNone) is_placed_[static_cast<size_t>(root_of(value))] = 0;
  }
}

void Lowering::find_takeovers(size_t index) {
  const PlannedStep& step = steps[index];
  if (!step.fills_outputs()) return;
  const graph::Node& node = *step.node;
  const int first = first_value.at(&node);
  std::vector<int> roots;
  for (const Tensor& t : node.inputs) {
    const int value = value_of(t);
    roots.push_back(value == kNone ? kNone : root_of(value));
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Tensor& t = node.inputs[i];
    // Reading the same bytes in two ways while writing them is nobody's promise.
    if (roots[i] == kNone || !is_placed(roots[i])) continue;
    if (std::count(roots.begin(), roots.end(), roots[i]) > 1) continue;
    for (size_t o = 0; o < node.outputs.size(); ++o) {
      const int output = first + static_cast<int>(o);
      const bool allowed = node.special ? node.special->may_write_into(o, i)
                                        : may_write_into(*node.op, node.inputs, node.attrs, i);
      if (!allowed || !is_placed(output)) continue;
      if (t.dtype() != node.outputs[o].dtype || t.shape() != node.outputs[o].shape) continue;
      if (t.device() != node.outputs[o].device) continue;
      problem.ops[index].in_place.emplace_back(output, value_of(t));
    }
  }
}

/// Heavy steps that the program has between a step that goes on and the one that waits for it stay
/// there: an order that takes less memory would have nothing to do meanwhile.
void Lowering::keep_beside(size_t index) {
  const graph::Node& node = *steps[index].node;
  const int first = first_value.at(&node);
  std::vector<int> between;
  for (size_t op = index + 1; op < steps.size(); ++op) {
    const graph::Node& next = *steps[op].node;
    const std::vector<int>& inputs = problem.ops[op].inputs;
    if (std::find(inputs.begin(), inputs.end(), first) != inputs.end()) {
      std::vector<int>& after = problem.ops[op].after;
      after.insert(after.end(), between.begin(), between.end());
      return;
    }
    if (!(next.op ? next.op->is_heavy() : bool(next.special->heavy_work()))) continue;
    problem.ops[op].after.push_back(static_cast<int>(index));
    between.push_back(static_cast<int>(op));
  }
}

void Lowering::put_in_order(size_t index) {
  const graph::Node& node = *steps[index].node;
  const int op = static_cast<int>(index);
  std::vector<int>& after = problem.ops[index].after;
  for (const graph::NodeRef& before : node.before) {
    if (const auto known = op_of_.find(before.get()); known != op_of_.end()) {
      after.push_back(known->second);
    }
  }
  for (const Tensor& t : node.inputs) {
    const int value = value_of(t);
    if (value == kNone) continue;
    const auto variable = variable_of_.find(root_of(value));
    if (variable != variable_of_.end()) order_.use(variable->second, op);
  }
  const std::vector<int> effects = order_.add(op, graph::effects_of(node));
  after.insert(after.end(), effects.begin(), effects.end());
  std::sort(after.begin(), after.end());
  after.erase(std::unique(after.begin(), after.end()), after.end());
}

}  // namespace tidemark::plan
