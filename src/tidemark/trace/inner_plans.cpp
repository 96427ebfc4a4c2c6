// What branches and loops take while they run: the plans of their bodies.
#include <algorithm>

#include "tidemark/exec/versions.h"
#include "tidemark/trace/specials.h"

namespace tidemark::trace {

namespace {

/// What one run of a part takes, and what it gives. All zero where only the run can tell.
struct Part {
  int64_t arena = 0;
  int64_t outside = 0;  // at most, results included
  int64_t results = 0;
  std::vector<Tensor> outputs;
};

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
    const plan::GraphPlan plan = plan::plan_graph(*graph);
    part.arena = plan.arena_bytes;
    part.outside = plan.outside;
    part.results = plan.result_bytes;
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

/// The parts of a loop and what each of them gets.
template <class Visit>
void visit_parts(const Loop& loop, std::span<const Tensor> given, Visit visit) {
  visit(loop.condition().program.get(), inputs_of(loop.condition(), given));
  std::vector<Tensor> round = inputs_of(loop.body(), given);
  if (const exec::Program* before = loop.before()) {
    const std::vector<Tensor> captured(
        round.begin() + static_cast<std::ptrdiff_t>(loop.num_variables()), round.end());
    for (const Tensor& t : visit(before, captured)) round.push_back(t);
    if (round.size() != loop.round().num_inputs()) return;  // only the run can tell
  }
  visit(&loop.round(), round);
}

/// A round runs while the values of the one before are there; those that it makes are the node's
/// outputs. What it is written in place, it is spared.
plan::InnerNeed bytes_in(const Loop& loop, std::span<const Tensor> given) {
  plan::InnerNeed need;
  int64_t kept = 0;
  visit_parts(loop, given, [&](const exec::Program* program, std::span<const Tensor> inputs) {
    const Part part = plan_part(*program, inputs);
    need.arena = std::max(need.arena, part.arena);
    need.outside = std::max(need.outside, kept + part.outside);
    if (program == loop.before()) kept = part.results;
    return part.outputs;
  });
  return need;
}

/// Only one of the bodies runs.
plan::InnerNeed bytes_in(const Branch& branch, std::span<const Tensor> given) {
  plan::InnerNeed need;
  for (const Body& body : branch.bodies()) {
    const Part part = plan_part(*body.program, inputs_of(body, given));
    need.arena = std::max(need.arena, part.arena);
    need.outside = std::max(need.outside, part.outside - part.results);
  }
  return need;
}

plan::InnerNeed inner_bytes(const graph::Node& node) {
  if (const auto* branch = dynamic_cast<const Branch*>(node.special.get())) {
    return bytes_in(*branch, node.inputs);
  }
  if (const auto* loop = dynamic_cast<const Loop*>(node.special.get())) {
    return bytes_in(*loop, node.inputs);
  }
  return {};
}

void compile_part(const exec::Program& program, std::span<const Tensor> inputs) {
  if (are_known(inputs)) program.compiled_for(inputs);
}

/// So that no part runs unplanned, not even once.
void compile_parts(const graph::Node& node) {
  if (const auto* branch = dynamic_cast<const Branch*>(node.special.get())) {
    for (const Body& body : branch->bodies()) {
      compile_part(*body.program, inputs_of(body, node.inputs));
    }
  } else if (const auto* loop = dynamic_cast<const Loop*>(node.special.get())) {
    visit_parts(*loop, node.inputs,
                [&](const exec::Program* program, std::span<const Tensor> inputs) {
                  compile_part(*program, inputs);
                  return program == loop->before() ? plan_part(*program, inputs).outputs
                                                   : std::vector<Tensor>();
                });
  }
}

const bool registered =
    (plan::set_inner_bytes(inner_bytes), exec::set_part_compiler(compile_parts), true);

}  // namespace

}  // namespace tidemark::trace
