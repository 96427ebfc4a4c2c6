// Where each slot of a list of steps is used last: both kinds of program let go of values there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace tidemark::exec {

/// What a step reads: slots, or constants where negative.
template <class Step>
std::span<const int32_t> operands_of(const Step& step, std::span<const int32_t> operands) {
  return operands.subspan(step.first_input, step.num_inputs);
}

/// Inputs (the first 64) that die with the step. One given twice is not given up: writing one would
/// change the other.
inline uint64_t dying_inputs(std::span<const int32_t> inputs, std::span<const uint32_t> dead) {
  uint64_t dying = 0;
  for (size_t i = 0; i < std::min<size_t>(inputs.size(), 64); ++i) {
    if (inputs[i] < 0 || std::count(inputs.begin(), inputs.end(), inputs[i]) > 1) continue;
    const auto slot = static_cast<uint32_t>(inputs[i]);
    if (std::find(dead.begin(), dead.end(), slot) != dead.end()) dying |= uint64_t{1} << i;
  }
  return dying;
}

struct LastUses {
  std::vector<uint32_t> dead;    // slots, those of one step side by side
  std::vector<uint32_t> unused;  // slots no step touches
};

/// Fills in what dies with each step. `stays` says by slot what outlives the steps anyway; the
/// outputs stay, too.
template <class Step>
LastUses find_last_uses(std::span<Step> steps, std::span<const int32_t> operands,
                        std::span<const int32_t> outputs, std::vector<bool> stays) {
  constexpr uint32_t kNever = ~0u;
  std::vector<uint32_t> last(stays.size(), kNever);
  for (uint32_t i = 0; i < steps.size(); ++i) {
    for (uint32_t k = 0; k < steps[i].num_outputs; ++k) last[steps[i].first_output + k] = i;
    for (const int32_t ref : operands_of(steps[i], operands)) {
      if (ref >= 0) last[static_cast<size_t>(ref)] = i;
    }
  }
  for (const int32_t ref : outputs) {
    if (ref >= 0) stays[static_cast<size_t>(ref)] = true;
  }
  LastUses found;
  std::vector<std::vector<uint32_t>> dead(steps.size());
  for (uint32_t slot = 0; slot < stays.size(); ++slot) {
    if (stays[slot]) continue;
    (last[slot] == kNever ? found.unused : dead[last[slot]]).push_back(slot);
  }
  for (uint32_t i = 0; i < steps.size(); ++i) {
    steps[i].first_dead = static_cast<uint32_t>(found.dead.size());
    steps[i].num_dead = static_cast<uint32_t>(dead[i].size());
    steps[i].dying = dying_inputs(operands_of(steps[i], operands), dead[i]);
    found.dead.insert(found.dead.end(), dead[i].begin(), dead[i].end());
  }
  return found;
}

}  // namespace tidemark::exec
