#include "tidemark/explain/plan_report.h"

#include <tidemark/bytes.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "tidemark/exec/versions.h"
#include "tidemark/explain/plan_reasons.h"
#include "tidemark/explain/python_steps.h"
#include "tidemark/graph/recording.h"
#include "tidemark/memory/buffer.h"
#include "tidemark/plan/graph_plan.h"

namespace tidemark::explain {

namespace {

std::string line_of(const graph::Node& node) {
  return node.site ? memory::describe(*node.site) : std::string();
}

class Reporter {
 public:
  Reporter(const graph::Graph& graph, const plan::GraphPlan& plan, PlanReport& out)
      : graph_(graph), plan_(plan), main_(plan.fullest()), out_(out) {}

  void fill() {
    out_.device = main_.device.name();
    out_.peak = main_.peak;
    out_.lower_bound = main_.lower_bound;
    out_.arena = main_.arena_bytes;
    out_.results = main_.result_bytes;
    out_.as_traced = main_.traced_peak;
    out_.seconds = plan_.seconds;
    add_devices();
    for (size_t i = 0; i < plan_.steps.size(); ++i) add_step(static_cast<int>(i));
    for (size_t i = 0; i < plan_.values.size(); ++i) add_value(static_cast<int>(i));
    count_what_is_elsewhere();
    out_.reuses = explain_reuses(plan_);
    out_.donations = explain_donations(plan_);
  }

 private:
  void add_step(int index) {
    const plan::PlannedStep& step = plan_.steps[static_cast<size_t>(index)];
    const std::string op(graph::kind_of(*step.node)), line = line_of(*step.node);
    const int64_t load = main_.loads[static_cast<size_t>(index)];
    out_.steps.push_back({op, line, load, step.device.name()});
    add_copies(step, index);
    const bool has_parts = step.kind == plan::PlannedStep::Kind::special;
    const int64_t workspace = step.workspace_device() == main_.device ? step.workspace : 0;
    if (has_parts) {
      out_.inner = std::max(out_.inner, workspace + step.inner_on(main_.device));
    } else {
      out_.workspaces = std::max(out_.workspaces, workspace);
    }
    for (const plan::DevicePlan& part : plan_.devices) {
      const int64_t bytes = step.inner_on(part.device);
      if (bytes == 0) continue;
      buffers_on(part.device).push_back({"inside " + op, line, "own", bytes, 0, index, index, {}});
    }
    if (step.workspace > 0) {
      buffers_on(step.workspace_device())
          .push_back({(has_parts ? "inside " : "workspace of ") + op,
                      line,
                      "arena",
                      step.workspace,
                      step.workspace_offset,
                      index,
                      index,
                      {}});
    }
    if (step.kind == plan::PlannedStep::Kind::eager && !step.node->outputs.empty()) {
      out_.refusals.push_back(
          message(describe_step(*step.node), ": only the run can tell its size"));
    }
    if (const auto bytes = graph::growing_bytes(*step.node)) {
      out_.refusals.push_back(message(describe_step(*step.node),
                                      ": what it keeps for its gradient grows with the rounds, ",
                                      format_bytes(*bytes), " each"));
    }
  }

  /// A step whose result lies elsewhere than what it reads copies that, and does nothing else.
  void add_copies(const plan::PlannedStep& step, int index) {
    const graph::Node& node = *step.node;
    if (step.kind != plan::PlannedStep::Kind::computing || node.inputs.size() != 1) return;
    const Tensor& from = node.inputs[0];
    if (node.outputs.size() != 1 || from.device() == step.device) return;
    const graph::Node& maker = from.is_symbolic() ? graph::node_of(from) : node;
    out_.copies.push_back({index, std::string(graph::kind_of(maker)), line_of(maker),
                           from.device().name(), step.device.name(),
                           static_cast<int64_t>(from.nbytes())});
  }

  /// The plan has every device where a value lies or a workspace.
  std::vector<PlannedBuffer>& buffers_on(Device device) {
    if (device == main_.device) return out_.buffers;
    const std::string name = device.name();
    return std::find_if(out_.devices.begin(), out_.devices.end(),
                        [&](const PlannedDevice& known) { return known.name == name; })
        ->buffers;
  }

  void add_devices() {
    for (const plan::DevicePlan& part : plan_.devices) {
      if (part.device == main_.device) continue;
      out_.devices.push_back({.name = part.device.name(),
                              .peak = part.peak,
                              .lower_bound = part.lower_bound,
                              .arena = part.arena_bytes,
                              .results = part.result_bytes,
                              .loads = part.loads});
    }
  }

  /// The value whose buffer this one lies in.
  int owner_of(int value) const {
    for (;;) {
      const plan::PlannedValue& v = plan_.values[static_cast<size_t>(value)];
      const int from = v.view_of != plan::kNone ? v.view_of : v.takes_over;
      if (from == plan::kNone) return value;
      value = from;
    }
  }

  void add_value(int index) {
    const plan::PlannedValue& v = plan_.values[static_cast<size_t>(index)];
    if (v.place == plan::Place::elsewhere || v.bytes == 0) return;
    const int owner = owner_of(index);
    const Device device = plan_.device_of(index);
    const bool is_record = graph::is_round_record(*v.node, v.output);
    const std::string op = (is_record ? "record of " : "") + std::string(graph::kind_of(*v.node));
    if (owner != index) {
      const auto buffer = buffers_.find(owner);
      if (buffer == buffers_.end()) return;
      PlannedBuffer& into = buffers_on(device)[buffer->second];
      if (v.takes_over != plan::kNone) into.written_over_by.push_back(op);
      if (v.is_result && into.place != "donated") into.place = "result";
      return;
    }
    buffers_[index] = buffers_on(device).size();
    const bool given = std::any_of(plan_.donations.begin(), plan_.donations.end(),
                                   [&](const plan::Donation& d) { return d.value == index; });
    const char* place = given                           ? "donated"
                        : v.place == plan::Place::arena ? "arena"
                        : v.is_result                   ? "result"
                                                        : "own";
    buffers_on(device).push_back(
        {op, line_of(*v.node), place, v.bytes, v.offset, v.first, v.last, {}});
    if (place != std::string_view("own")) return;
    const char* why = is_record ? ": a value of every round, each in a buffer of its own"
                                : ": a buffer of its own, because a step it goes to may keep it";
    out_.refusals.push_back(message(describe_step(*v.node), why));
  }

  void count_what_is_elsewhere() {
    std::unordered_set<const memory::Buffer*> seen;
    std::unordered_set<uint64_t> variables;
    for (const Tensor& t : graph_.inputs()) out_.inputs += static_cast<int64_t>(t.nbytes());
    for (const graph::Node* node : graph_.nodes()) {
      for (const Tensor& t : node->inputs) {
        const memory::Buffer* buffer = t.impl()->buffer;
        if (!t.is_symbolic() && buffer && seen.insert(buffer).second) {
          out_.constants += static_cast<int64_t>(t.nbytes());
        }
      }
      const auto count = [&](const Variable& variable) {
        if (!variables.insert(variable.id()).second || !variable.shape().is_fully_known()) return;
        out_.variables +=
            variable.shape().num_elements() * static_cast<int64_t>(size_of(variable.dtype()));
      };
      const graph::Effects effects = graph::effects_of(*node);
      if (effects.is_barrier) continue;  // its inner graphs have reports of their own
      for (const Variable& variable : effects.reads) count(variable);
      for (const Variable& variable : effects.writes) count(variable);
    }
  }

  const graph::Graph& graph_;
  const plan::GraphPlan& plan_;
  const plan::DevicePlan& main_;  // of which a run takes the most
  PlanReport& out_;
  std::map<int, size_t> buffers_;  // by the value that owns it: its place among its device's
};

}  // namespace

Tensor spec_of(DType dtype, const Shape& shape, Device device) {
  auto impl = std::make_unique<detail::TensorImpl>();
  impl->dtype = dtype;
  impl->shape = shape;
  impl->device = device;
  impl->num_elements = shape.is_fully_known() ? shape.num_elements() : 0;
  return Tensor::adopt(impl.release());
}

PlanReport plan_report(const exec::Program& program, std::span<const Tensor> inputs,
                       std::string name, int64_t budget) {
  for (const Tensor& t : inputs) {
    if (!t.shape().is_fully_known()) {
      fail("[plan] ", name, ": a plan needs all sizes; an argument has shape ", t.shape());
    }
  }
  std::shared_ptr<graph::Graph> unfused;
  compile::Repetitions repeated;
  const auto graph = exec::specialise(program, inputs, &unfused, &repeated);
  if (!graph) {
    fail<FailedPreconditionError>(
        "[plan] ", name,
        " asks for gradients across branches, or across loops whose values change their shape or "
        "which change variables: they are worked out while it runs, and such a function is not "
        "planned");
  }
  PlanReport out;
  out.name = std::move(name);
  const exec::PlannedGraph planned = exec::plan_within(graph, budget, unfused, program.donated());
  out.budget = budget;
  out.over_limit = planned.over_limit;
  out.repeated = planned.repeated;
  out.added_time = planned.added_time;
  for (const compile::SplitNote& note : planned.splits) out.splits.push_back(note.to_string());
  out.repeat_time = repeated.added_time;
  for (compile::RepeatedStep& step : repeated.steps) {
    out.repeats.push_back({std::move(step.op), std::move(step.line), step.bytes,
                           message("needed again by ", step.kept_for)});
  }
  Reporter(*planned.graph, planned.plan, out).fill();
  for (const auto& [device, peak] : planned.unbounded) {
    if (device == planned.plan.fullest().device) out.unbounded_peak = peak;
  }
  out.python_steps = python_steps(*planned.graph);
  return out;
}

}  // namespace tidemark::explain
