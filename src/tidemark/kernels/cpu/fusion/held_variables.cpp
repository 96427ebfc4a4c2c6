#include "tidemark/kernels/cpu/fusion/held_variables.h"

#include <algorithm>
#include <numeric>

#include "tidemark/tensor/storage.h"

namespace tidemark::fusion {

struct HeldVariables::Frame {
  const HeldVariables* held = nullptr;
  const std::function<void(const Memory&)>* compute = nullptr;
  Memory memory;
};

HeldVariables::HeldVariables(std::vector<Variable> variables, std::vector<int>& places) {
  std::vector<int> order(variables.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return variables[static_cast<size_t>(a)].id() < variables[static_cast<size_t>(b)].id();
  });
  places.assign(variables.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    places[static_cast<size_t>(order[i])] = static_cast<int>(i);
    variables_.push_back(variables[static_cast<size_t>(order[i])]);
  }
}

void HeldVariables::change(const std::function<void(const Memory&)>& compute) const {
  thread_local Frame frame;  // its memory stays for the next run
  frame.held = this;
  frame.compute = &compute;
  frame.memory.from.assign(variables_.size(), nullptr);
  frame.memory.to.assign(variables_.size(), nullptr);
  take(frame, 0);
}

/// Takes the variables one after the other; with all of them in hand it computes.
void HeldVariables::take(Frame& frame, size_t next) const {
  if (next == variables_.size()) return (*frame.compute)(frame.memory);
  Variable variable = variables_[next];
  // Captures no more than std::function holds without memory of its own.
  variable.transform([&frame, next](Tensor& value) {
    // Somebody still reads the old value: the new one goes elsewhere.
    Tensor result = value.is_unique() ? value : new_tensor(value.dtype(), value.shape());
    frame.memory.from[next] = value.raw_data();
    frame.memory.to[next] = result.mutable_raw_data();
    frame.held->take(frame, next + 1);
    return result;
  });
}

}  // namespace tidemark::fusion
