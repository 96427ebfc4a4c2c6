#include "tidemark/autodiff/tape.h"

#include <unordered_set>

#include "tidemark/autodiff/keep.h"
#include "tidemark/tensor/trainable.h"

namespace tidemark::autodiff {

namespace {

thread_local constinit int pauses __attribute__((tls_model("initial-exec"))) = 0;

bool is_differentiable(DType d) { return is_floating(d) || is_complex(d); }

}  // namespace

bool is_recording_paused() noexcept { return pauses > 0; }

void RecordingPause::handle(const OpCall& call, std::span<Tensor> outputs) {
  struct Paused {
    Paused() { ++pauses; }
    ~Paused() { --pauses; }
  } paused;
  next(call, outputs);
}

void Tape::Entry::label() {
  for (size_t i = 0; i < tensors.size() && i < 64; ++i) {
    memory::Buffer* buffer = tensors[i].impl()->buffer;
    if (!buffer || buffer->holder != memory::Holder::value) continue;
    memory::set_holder(buffer, memory::Holder::tape);
    labelled |= uint64_t{1} << i;
  }
}

void Tape::Entry::unlabel() noexcept {
  for (size_t i = 0; i < tensors.size() && i < 64; ++i) {
    if (!((labelled >> i) & 1u) || !tensors[i]) continue;
    memory::Buffer* buffer = tensors[i].impl()->buffer;
    if (buffer->holder == memory::Holder::tape) {
      memory::set_holder(buffer, memory::Holder::value);
    }
  }
}

int32_t Tape::add_slot(uint64_t id) {
  ids_.insert(id, num_slots_);
  return num_slots_++;
}

void Tape::watch_id(uint64_t id) {
  if (ids_.find(id) < 0) add_slot(id);
  if (is_trainable(id)) accessed_.push_back(id);
}

void Tape::watch(const Tensor& t) { watch_id(id_of(t)); }

bool Tape::is_watched(const Tensor& t) const {
  const uint64_t id = t.impl()->id.load(std::memory_order_relaxed);
  return id != 0 && ids_.find(id) >= 0;
}

void Tape::stop_at(const Tensor& t) {
  if (!is_watched(t)) return;
  ids_.replace(id_of(t), num_slots_++);
  stops_.push_back(t);
}

/// -1: no gradient flows to the tensor.
int32_t Tape::slot_of(const Tensor& t) {
  const uint64_t id = t.impl()->id.load(std::memory_order_relaxed);
  if (id == 0 || !is_differentiable(t.dtype())) return -1;
  const int32_t slot = ids_.find(id);
  if (slot >= 0 || !is_trainable(id) || !options_.watch_accessed_variables) return slot;
  accessed_.push_back(id);
  return add_slot(id);
}

void Tape::add_outputs(Entry& entry, std::span<const Tensor> outputs, uint32_t keep) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    entry.tensors.push_back(kept(outputs[i], keep, i));
    if (!is_differentiable(outputs[i].dtype())) {
      entry.slots.push_back(-1);
      continue;
    }
    const uint64_t id = id_of(outputs[i]);
    const int32_t known = ids_.find(id);
    entry.slots.push_back(known >= 0 ? known : add_slot(id));
  }
}

/// False: nothing of it is watched.
bool Tape::begin_entry(const OpCall& call, size_t num_outputs, Entry& entry) {
  bool is_watched = false;
  const size_t count = call.inputs.size();
  entry.slots.reserve(count + num_outputs);
  for (const Tensor& t : call.inputs) {
    entry.slots.push_back(slot_of(t));
    is_watched |= entry.slots.back() >= 0;
  }
  if (!is_watched || options_.only_variables || !call.op.is_differentiable()) return false;
  entry.op = &call.op;
  entry.num_inputs = static_cast<uint32_t>(count);
  entry.attrs.assign(call.attrs.begin(), call.attrs.end());
  entry.tensors.reserve(count + num_outputs);
  const Keep keep = call.op.gradient_keeps();
  for (size_t i = 0; i < count; ++i) entry.tensors.push_back(kept(call.inputs[i], keep.x, i));
  return true;
}

void Tape::end_entry(Entry&& entry, std::span<const Tensor> outputs) {
  add_outputs(entry, outputs, entry.op->gradient_keeps().y);
  entry.label();
  entries_.push_back(std::move(entry));
}

void Tape::handle(const OpCall& call, std::span<Tensor> outputs) {
  if (!recording_ || pauses > 0) return next(call, outputs);
  Entry entry;
  // Before the call: an input that is kept must not be written over, though it was donated.
  const bool is_watched = begin_entry(call, outputs.size(), entry);
  next(call, outputs);
  if (is_watched) end_entry(std::move(entry), outputs);
}

void Tape::note(const OpCall& call, std::span<const Tensor> outputs) {
  Entry entry;
  if (begin_entry(call, outputs.size(), entry)) end_entry(std::move(entry), outputs);
}

bool Tape::record(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                  const std::shared_ptr<CustomBackward>& backward) {
  if (!recording_ || options_.only_variables) return true;
  bool is_watched = false;
  Entry entry;
  for (const Tensor& t : inputs) {
    entry.slots.push_back(slot_of(t));
    is_watched |= entry.slots.back() >= 0;
    entry.tensors.push_back(shape_only(t));
  }
  if (!is_watched) return true;
  entry.custom = backward;
  may_have_custom_ = true;
  entry.num_inputs = static_cast<uint32_t>(inputs.size());
  add_outputs(entry, outputs, 0);
  entries_.push_back(std::move(entry));
  return true;
}

void Tape::end_many(bool persistent) {
  options_.persistent = persistent;
  if (persistent) return;
  used_up_ = true;
  recording_ = false;
  entries_.clear();
}

void Tape::reset() {
  entries_.clear();
  ids_.clear();
  accessed_.clear();
  stops_.clear();
  num_slots_ = 0;
  may_have_custom_ = false;
  used_up_ = false;
  recording_ = true;
}

int64_t Tape::kept_bytes() const {
  std::unordered_set<const memory::Buffer*> seen;
  int64_t bytes = 0;
  for (const Entry& entry : entries_) {
    for (const Tensor& t : entry.tensors) {
      const memory::Buffer* buffer = t ? t.impl()->buffer : nullptr;
      if (buffer && seen.insert(buffer).second) bytes += static_cast<int64_t>(buffer->charged);
    }
  }
  return bytes;
}

}  // namespace tidemark::autodiff
