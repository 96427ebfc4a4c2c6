#include "tidemark/plan/donations.h"

#include <algorithm>

namespace tidemark::plan {

namespace {

using Kind = PlannedStep::Kind;
using Fate = Donation::Fate;

class Donations {
 public:
  explicit Donations(GraphPlan& plan) : plan_(plan) {
    for (const PlannedStep& step : plan.steps) {
      std::vector<int>& reads = reads_.emplace_back();
      for (const Tensor& t : step.node->inputs) {
        const int at = plan.value_of(t);
        if (at != kNone) reads.push_back(plan.root_of(at));
      }
    }
  }

  void add(uint32_t input) {
    Donation donation{.input = input};
    const int value = plan_.input_values[input];
    const auto shows_it = [&](int output) {
      return output != kNone && plan_.root_of(output) == value;
    };
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      if (times_read(i, value) == 0) continue;
      donation.last_read = static_cast<int>(i);
      if (may_keep(plan_.steps[i])) donation.fate = Fate::kept;
    }
    if (std::any_of(plan_.output_values.begin(), plan_.output_values.end(), shows_it)) {
      donation.fate = Fate::returned;
    }
    plan_.donations.push_back(donation);
  }

  /// Results in the order in which they are made: whatever is free for one is free for those after
  /// it, so that none is left without memory that it might have had.
  void match() {
    std::vector<int> results;
    for (const int output : plan_.output_values) {
      if (output == kNone) continue;
      const int owner = owner_of(output);
      if (is_ours_to_make(owner)) results.push_back(owner);
    }
    std::sort(results.begin(), results.end(),
              [&](int a, int b) { return std::pair(first(a), a) < std::pair(first(b), b); });
    results.erase(std::unique(results.begin(), results.end()), results.end());
    for (const int result : results) give(result);
  }

  void take_off_loads() {
    for (DevicePlan& device : plan_.devices) {
      const std::vector<int64_t> saved = saved_on(device.device);
      device.lower_bound = device.outside = 0;
      int64_t now = 0;
      for (size_t i = 0; i < plan_.steps.size(); ++i) {
        now += saved[i];
        device.lower_bound = std::max(device.lower_bound, device.loads[i] -= now);
        device.outside = std::max(device.outside, device.outsides[i] -= now);
      }
    }
  }

 private:
  /// Bytes of donated inputs that are free from each step on, beyond those of the steps before.
  std::vector<int64_t> saved_on(Device where) const {
    std::vector<int64_t> saved(plan_.steps.size() + 1, 0);
    for (const Donation& d : plan_.donations) {
      if (d.fate == Fate::returned || d.fate == Fate::kept) continue;
      if (plan_.device_of(plan_.input_values[d.input]) != where) continue;
      const int64_t bytes = value(plan_.input_values[d.input]).bytes;
      // What is not used again is let go after the last read.
      const int from = d.value != kNone ? first(d.value) : d.last_read + 1;
      saved[static_cast<size_t>(from)] += bytes;
    }
    return saved;
  }

  const PlannedValue& value(int index) const { return plan_.values[static_cast<size_t>(index)]; }
  int first(int index) const { return value(index).first; }

  /// The value whose memory this one lies in.
  int owner_of(int index) const {
    for (;;) {
      const PlannedValue& v = value(index);
      const int from = v.view_of != kNone ? v.view_of : v.takes_over;
      if (from == kNone) return index;
      index = from;
    }
  }

  bool is_ours_to_make(int index) const {
    const PlannedValue& v = value(index);
    if (v.place != Place::fresh || v.bytes == 0) return false;
    return plan_.steps[static_cast<size_t>(v.first)].fills_outputs();
  }

  /// Views count as what they show.
  int64_t times_read(size_t step, int root) const {
    return std::count(reads_[step].begin(), reads_[step].end(), root);
  }

  static bool may_keep(const PlannedStep& step) {
    if (step.kind == Kind::eager) return !step.node->op->is_elementwise();
    return step.kind == Kind::special && step.node->special->keeps_inputs();
  }

  /// Whether the step may write the result over the input that it reads.
  bool may_write_over(int result, int input) const {
    const PlannedValue& made = value(result);
    const PlannedStep& step = plan_.steps[static_cast<size_t>(made.first)];
    if (times_read(static_cast<size_t>(made.first), input) != 1) return false;
    const graph::Special* special = step.node->special.get();
    const graph::OutputInfo& info = step.node->outputs[made.output];
    for (size_t i = 0; i < step.node->inputs.size(); ++i) {
      const Tensor& t = step.node->inputs[i];
      if (plan_.value_of(t) != input || t.dtype() != info.dtype || t.shape() != info.shape)
        continue;
      return special ? special->may_write_into(made.output, i)
                     : i < 32 && step.node->op->may_write_into(static_cast<int>(i));
    }
    return false;
  }

  void give(int result) {
    const PlannedValue& made = value(result);
    Donation* after = nullptr;
    for (Donation& d : plan_.donations) {
      const int input = plan_.input_values[d.input];
      const bool is_free = d.fate == Fate::no_result || d.fate == Fate::read_last;
      if (!is_free || value(input).bytes != made.bytes) continue;
      if (plan_.device_of(input) != plan_.device_of(result)) continue;
      if (d.last_read == made.first && may_write_over(result, input)) {
        d.fate = Fate::in_place;
        d.value = result;
        return;
      }
      if (d.last_read < made.first && !after) after = &d;
      if (d.last_read >= made.first) d.fate = Fate::read_last;
    }
    if (!after) return;
    after->fate = Fate::reused;
    after->value = result;
  }

  GraphPlan& plan_;
  std::vector<std::vector<int>> reads_;  // by step: the roots of its inputs
};

}  // namespace

void find_donations(GraphPlan& plan, std::span<const uint32_t> donated) {
  if (donated.empty()) return;
  Donations donations(plan);
  for (const uint32_t input : donated) donations.add(input);
  donations.match();
  donations.take_off_loads();
}

}  // namespace tidemark::plan
