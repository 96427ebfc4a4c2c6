#include "tidemark/autodiff/forward.h"

#include <tidemark/create.h>

#include "tidemark/tensor/handlers.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::autodiff {

namespace {

bool is_differentiable(DType d) { return is_floating(d) || is_complex(d); }

Tape::Entry entry_of(std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  Tape::Entry entry;
  entry.num_inputs = static_cast<uint32_t>(inputs.size());
  entry.tensors.assign(inputs.begin(), inputs.end());
  entry.tensors.insert(entry.tensors.end(), outputs.begin(), outputs.end());
  return entry;
}

/// The gradients of the entry's inputs for `dy`, all of them dense.
std::vector<Tensor> pulled_back(const Tape::Entry& entry, std::span<const Tensor> dy) {
  std::vector<Tensor> dx(entry.num_inputs);
  if (entry.custom) {
    auto adjoints = entry.custom->run(dy);
    for (size_t i = 0; i < dx.size() && i < adjoints.size(); ++i) {
      if (adjoints[i]) dx[i] = dense(std::move(adjoints[i]));
    }
    return dx;
  }
  const OpCall call{*entry.op, entry.inputs(), entry.attrs};
  std::vector<Tensor> own(dy.begin(), dy.end());
  Grad grad(call, entry.outputs(), own, dx);
  entry.op->gradient_rule()(grad);
  return dx;
}

}  // namespace

void ForwardAccumulator::watch_id(uint64_t id, const Tensor& tangent) {
  const int32_t slot = ids_.find(id);
  if (slot >= 0) {
    tangents_[static_cast<size_t>(slot)] = tangent;
    return;
  }
  ids_.insert(id, static_cast<int32_t>(tangents_.size()));
  tangents_.push_back(tangent);
}

Tensor ForwardAccumulator::tangent_of(uint64_t id) const {
  const int32_t slot = id == 0 ? -1 : ids_.find(id);
  return slot < 0 ? Tensor() : tangents_[static_cast<size_t>(slot)];
}

std::vector<Tensor> ForwardAccumulator::tangents_of(std::span<const Tensor> inputs) const {
  std::vector<Tensor> out;
  for (const Tensor& t : inputs) {
    out.push_back(tangent_of(t.impl()->id.load(std::memory_order_relaxed)));
  }
  return out;
}

bool ForwardAccumulator::is_moving(std::span<const Tensor> inputs) const {
  for (const Tensor& t : inputs) {
    const uint64_t id = t.impl()->id.load(std::memory_order_relaxed);
    if (id != 0 && ids_.find(id) >= 0) return true;
  }
  return false;
}

void ForwardAccumulator::handle(const OpCall& call, std::span<Tensor> outputs) {
  if (is_recording_paused() || !call.op.is_differentiable() || !is_moving(call.inputs)) {
    return next(call, outputs);
  }
  const std::vector<Tensor> tangents = tangents_of(call.inputs);
  next({call.op, call.inputs, call.attrs, 0}, outputs);
  Tape::Entry entry = entry_of(call.inputs, outputs);
  entry.op = &call.op;
  entry.attrs.assign(call.attrs.begin(), call.attrs.end());
  push_forward(entry, tangents, outputs);
}

bool ForwardAccumulator::record(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                                const std::shared_ptr<CustomBackward>& backward) {
  if (!is_moving(inputs)) return true;
  Tape::Entry entry = entry_of(inputs, outputs);
  entry.custom = backward;
  push_forward(entry, tangents_of(inputs), outputs);
  return true;
}

void ForwardAccumulator::push_forward(const Tape::Entry& entry, std::span<const Tensor> tangents,
                                      std::span<const Tensor> outputs) {
  const Below scope(*this);  // what lies below sees how the tangents are made
  Tape tape({.persistent = false, .watch_accessed_variables = false});
  std::vector<Tensor> dy(outputs.size()), targets, seeds;
  std::vector<uint64_t> sources(outputs.size());
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (!is_differentiable(outputs[k].dtype())) continue;
    dy[k] = ones(outputs[k].shape(), outputs[k].dtype());
    tape.watch(dy[k]);
    sources[k] = id_of(dy[k]);
  }
  {
    const HandlerScope recording(tape);
    std::vector<Tensor> dx = pulled_back(entry, dy);
    for (size_t i = 0; i < dx.size(); ++i) {
      if (!dx[i] || !tangents[i]) continue;
      targets.push_back(std::move(dx[i]));
      seeds.push_back(tangents[i]);
    }
  }
  if (targets.empty()) return;
  auto moved = tape.gradient(targets, sources, seeds);
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (moved[k]) watch_id(id_of(outputs[k]), dense(std::move(moved[k])));
  }
}

void record_custom(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                   const std::shared_ptr<CustomBackward>& backward) {
  for (Handler* h = top_handler(); h; h = h->below()) {
    if (!h->record(inputs, outputs, backward)) return;
  }
}

}  // namespace tidemark::autodiff
