#include "tidemark/session/run_trace.h"

#include <limits>
#include <memory>

#include "tidemark/memory/budget.h"

namespace tidemark::session {

namespace {

int64_t microseconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
}

}  // namespace

Tracer::Tracer(RunTrace& trace, std::span<graph::Node* const> nodes) : trace_(trace) {
  for (graph::Node* node : nodes) {
    if (node->op) names_[{node->op, node->site}].all.push_back(graph::name_of(*node));
  }
}

std::string Tracer::name_of(const OpCall& call) {
  const auto found = names_.find({&call.op, memory::thread_context.site});
  if (found == names_.end()) return call.op.name();
  // Several nodes of one line run in the order in which they were made; a loop's run again.
  Names& names = found->second;
  return names.all[names.next++ % names.all.size()];
}

void Tracer::handle(const OpCall& call, std::span<Tensor> outputs) {
  RunTrace::OpRun step;
  step.node = name_of(call);
  step.op = call.op.name();
  if (memory::thread_context.site) step.place = memory::describe(*memory::thread_context.site);
  const std::unique_ptr<memory::Budget, void (*)(memory::Budget*)> budget(
      memory::Budget::create(std::numeric_limits<int64_t>::max() / 2, "an op of a traced run",
                             memory::thread_context.budget),
      [](memory::Budget* b) { memory::Budget::drop(b); });
  const Clock::time_point before = Clock::now();
  {
    const memory::BudgetScope scope(budget.get());
    next(call, outputs);
  }
  step.duration_us = microseconds(Clock::now() - before);
  step.start_us = microseconds(before - started_);
  step.allocated_bytes = memory::used_of(budget.get());
  step.peak_bytes = memory::peak_of(budget.get());
  for (const Tensor& t : outputs) {
    step.output_bytes += t.num_elements() * static_cast<int64_t>(size_of(t.dtype()));
    step.outputs.push_back(message(tidemark::name_of(t.dtype()), " ", t.shape()));
  }
  trace_.ops.push_back(std::move(step));
}

}  // namespace tidemark::session
