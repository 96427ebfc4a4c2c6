// What branches and loops take while they run: the plans of their bodies.
#include <algorithm>

#include "tidemark/exec/versions.h"
#include "tidemark/explain/plan_report.h"
#include "tidemark/tensor/storage.h"
#include "tidemark/trace/specials.h"

namespace tidemark::trace {

namespace {

/// What one run of a part takes, and what it gives. All zero where only the run can tell.
struct Part {
  int64_t arena = 0;
  int64_t outside = 0;  // at most, results included
  int64_t results = 0;
  std::vector<graph::InnerNeed::OnDevice> on_devices;  // the same elsewhere, arenas included
  std::vector<Tensor> outputs;
};

/// On a device several parts take their arenas one after the other.
void take(graph::InnerNeed& need, const graph::InnerNeed::OnDevice& part) {
  for (graph::InnerNeed::OnDevice& known : need.on_devices) {
    if (known.device != part.device) continue;
    known.bytes = std::max(known.bytes, part.bytes);
    return;
  }
  need.on_devices.push_back(part);
}

/// Where a part leaves its results; the executor brings others there.
void set_outputs(graph::InnerNeed& need, const Part& part) {
  need.outputs.clear();
  for (const Tensor& t : part.outputs) need.outputs.push_back(t.device());
}

int64_t bytes_of(std::span<const Tensor> tensors, Device device) {
  int64_t bytes = 0;
  for (const Tensor& t : tensors) {
    const bool is_known = t.device() == device && t.shape().is_fully_known();
    if (is_known) bytes += static_cast<int64_t>(bytes_for(t.dtype(), t.shape().num_elements()));
  }
  return bytes;
}

bool are_known(std::span<const Tensor> inputs) {
  return std::all_of(inputs.begin(), inputs.end(),
                     [](const Tensor& t) { return t.shape().is_fully_known(); });
}

Part plan_part(const exec::Program& program, std::span<const Tensor> inputs) {
  Part part;
  if (!are_known(inputs)) return part;
  try {
    const auto graph = exec::specialise(program, inputs);
    if (!graph) return part;
    const plan::GraphPlan plan = plan::plan_graph(*graph, {.donated = program.donated()});
    part.arena = plan.host().arena_bytes;
    part.outside = plan.host().outside;
    part.results = plan.host().result_bytes;
    for (const plan::DevicePlan& device : std::span(plan.devices).subspan(1)) {
      part.on_devices.push_back({device.device, device.peak});
    }
    part.outputs.assign(graph->outputs().begin(), graph->outputs().end());
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    part = {};  // the run itself says what is wrong
  }
  return part;
}

/// The inputs of a body: the first of the node's, then what it captured.
std::vector<Tensor> inputs_of(const Body& body, std::span<const Tensor> given) {
  std::vector<Tensor> inputs(
      given.begin(),
      given.begin() + static_cast<std::ptrdiff_t>(body.num_inputs() - body.captured.size()));
  for (const uint32_t index : body.captured) inputs.push_back(given[index]);
  return inputs;
}

void compile_part(const exec::Program& program, std::span<const Tensor> inputs) {
  if (are_known(inputs)) program.compiled_for(inputs);
}

}  // namespace

template <class Visit>
void WhileLoop::visit_parts(std::span<const Tensor> given, Visit visit) const {
  visit(condition_.program.get(), inputs_of(condition_, given));
  std::vector<Tensor> next = inputs_of(body_, given);
  if (before()) {
    const std::vector<Tensor> captured(next.begin() + static_cast<std::ptrdiff_t>(num_variables_),
                                       next.end());
    for (const Tensor& t : visit(before(), captured)) next.push_back(t);
    if (next.size() != round().num_inputs()) return;  // only the run can tell
  }
  visit(&round(), next);
}

/// A round runs while the values of the one before are there; those that it makes are the node's
/// outputs, and so are the records: what a round adds to them does not count again. What it is
/// written in place, it is spared.
graph::InnerNeed WhileLoop::inner_need(std::span<const Tensor> inputs) const {
  graph::InnerNeed need;
  int64_t kept = 0;
  visit_parts(inputs, [&](const exec::Program* program, std::span<const Tensor> given) {
    Part part = plan_part(*program, given);
    if (program == &round() && part.outputs.size() > num_variables_) {
      const std::span<const Tensor> recorded = std::span(part.outputs).subspan(num_variables_);
      part.outside -= std::min(part.outside, bytes_of(recorded, Device()));
      for (auto& device : part.on_devices) {
        device.bytes -= std::min(device.bytes, bytes_of(recorded, device.device));
      }
    }
    need.arena = std::max(need.arena, part.arena);
    need.outside = std::max(need.outside, kept + part.outside);
    for (const auto& device : part.on_devices) take(need, device);
    if (program == before()) kept = part.results;
    if (program == &round()) set_outputs(need, part);
    return part.outputs;
  });
  if (num_recorded() > 0 && !need.outputs.empty()) {  // the host counts the rounds
    need.outputs.insert(need.outputs.begin() + static_cast<std::ptrdiff_t>(num_variables_),
                        Device());
  }
  return need;
}

void WhileLoop::prepare(std::span<const Tensor> inputs) const {
  visit_parts(inputs, [&](const exec::Program* program, std::span<const Tensor> given) {
    compile_part(*program, given);
    return program == before() ? plan_part(*program, given).outputs : std::vector<Tensor>();
  });
}

std::vector<Tensor> LoopGradient::inputs_of_round(std::span<const Tensor> inputs) const {
  const Given<const Tensor> given = split(inputs);
  std::vector<Tensor> out(given.carried.begin(), given.carried.end());
  for (const uint32_t i : layout_.summed) out.push_back(given.captures[i]);  // a sum is like it
  out.insert(out.end(), given.captures.begin(), given.captures.end());
  const auto add_value_of = [&](const Tensor& record) {
    const Tensor& shown = round_->graph().inputs()[out.size()];
    out.push_back(explain::spec_of(shown.dtype(), shown.shape(), record.device()));
  };
  for (const Tensor& record : given.records) add_value_of(record);
  for (const uint32_t i : layout_.earlier) add_value_of(given.records[i]);
  return out;
}

/// A round runs while the gradients of the one after it are there; those that it makes are the
/// node's outputs.
graph::InnerNeed LoopGradient::inner_need(std::span<const Tensor> inputs) const {
  graph::InnerNeed need;
  const Part part = plan_part(*round_, inputs_of_round(inputs));
  need.arena = part.arena;
  need.outside = part.outside;
  need.on_devices = part.on_devices;
  set_outputs(need, part);
  return need;
}

void LoopGradient::prepare(std::span<const Tensor> inputs) const {
  compile_part(*round_, inputs_of_round(inputs));
}

/// Only one of the bodies runs.
graph::InnerNeed Branch::inner_need(std::span<const Tensor> inputs) const {
  graph::InnerNeed need;
  for (const Body& body : bodies_) {
    const Part part = plan_part(*body.program, inputs_of(body, inputs));
    need.arena = std::max(need.arena, part.arena);
    need.outside = std::max(need.outside, part.outside - part.results);
    for (const auto& device : part.on_devices) take(need, device);
    if (need.outputs.empty()) set_outputs(need, part);
  }
  return need;
}

void Branch::prepare(std::span<const Tensor> inputs) const {
  for (const Body& body : bodies_) compile_part(*body.program, inputs_of(body, inputs));
}

}  // namespace tidemark::trace
