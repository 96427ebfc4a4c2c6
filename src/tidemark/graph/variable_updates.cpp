#include "tidemark/graph/variable_updates.h"

#include <algorithm>
#include <numeric>

#include "tidemark/memory/workspace.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::graph {

/// Handles that are borrowed from whoever has the tensors meanwhile.
struct VariableUpdates::Frame {
  const VariableUpdates* updates = nullptr;
  const Compute* compute = nullptr;
  std::vector<detail::TensorImpl*> inputs;  // the step's own, then the old values
  std::vector<detail::TensorImpl*> outputs;
  size_t first_old = 0;

  static std::span<const Tensor> tensors(const std::vector<detail::TensorImpl*>& borrowed) {
    return {reinterpret_cast<const Tensor*>(borrowed.data()), borrowed.size()};
  }
};

VariableUpdates::VariableUpdates(std::vector<Variable> variables,
                                 std::shared_ptr<const ComputingSpecial> values)
    : variables_(std::move(variables)), order_(variables_.size()), values_(std::move(values)) {
  std::iota(order_.begin(), order_.end(), size_t{0});
  std::sort(order_.begin(), order_.end(),
            [&](size_t a, size_t b) { return variables_[a].id() < variables_[b].id(); });
}

void VariableUpdates::change(std::span<const Tensor> inputs, const Compute& compute) const {
  thread_local Frame frame;  // its memory stays for the next run
  frame.updates = this;
  frame.compute = &compute;
  frame.first_old = inputs.size();
  frame.inputs.resize(inputs.size() + variables_.size());
  frame.outputs.resize(variables_.size());
  for (size_t i = 0; i < inputs.size(); ++i) frame.inputs[i] = inputs[i].impl();
  take(frame, 0);
}

/// Takes the variables one after the other; with all of them in hand it computes.
void VariableUpdates::take(Frame& frame, size_t next) const {
  if (next == order_.size()) {
    return (*frame.compute)(Frame::tensors(frame.inputs), Frame::tensors(frame.outputs));
  }
  Variable variable = variables_[order_[next]];
  // Captures no more than std::function holds without memory of its own.
  variable.transform([&frame, next](Tensor& value) {
    // Somebody still reads the old value: the new one goes elsewhere.
    Tensor result = value.is_unique() ? value
                                      : new_tensor(value.dtype(), value.shape(),
                                                   memory::Holder::value, 0, value.device());
    const size_t place = frame.updates->order_[next];
    frame.inputs[frame.first_old + place] = value.impl();
    frame.outputs[place] = result.impl();
    frame.updates->take(frame, next + 1);
    return result;
  });
}

void VariableUpdates::compute(std::span<const Tensor> inputs, std::span<const Tensor>,
                              void* workspace) const {
  const auto now = [&](std::span<const Tensor> all, std::span<const Tensor> outputs) {
    values_->compute(all, outputs, workspace);
  };
  change(inputs, std::cref(now));
}

void VariableUpdates::run(std::span<Tensor> inputs, std::span<Tensor>) const {
  const memory::Workspace scratch(workspace());
  compute(inputs, {}, scratch.data());
}

bool VariableUpdates::equals(const Special& other) const {
  const auto& updates = static_cast<const VariableUpdates&>(other);
  return updates.variables_ == variables_ && updates.values_->is_same(*values_);
}

size_t VariableUpdates::bytes() const {
  return sizeof(VariableUpdates) + values_->bytes() +
         variables_.size() * (sizeof(Variable) + sizeof(size_t));
}

}  // namespace tidemark::graph
