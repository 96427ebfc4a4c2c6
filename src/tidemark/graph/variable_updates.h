// Variables changed together, each written where it lies.
//
// What an optimizer does is a pure function of old values and gradients. Where the new values go is
// found when it runs, with all variables in hand: over the old ones, or elsewhere where somebody
// still holds those.
//
//   graph::VariableUpdates updates({w, m}, step);     // step: (gradient, w, m) -> (w, m)
//   updates.run(gradients, {});
#pragma once

#include "tidemark/graph/specials.h"

namespace tidemark::graph {

/// Reads no other variables but by its inputs, and has no outputs. Allocates where somebody holds
/// an old value, and nothing else.
class TIDEMARK_API VariableUpdates final : public ComputingSpecial {
 public:
  /// `values` computes the new values of the variables, from the inputs of this step and behind
  /// them the old values, whose memory it may be given for the new ones. No variable is there
  /// twice.
  VariableUpdates(std::vector<Variable> variables, std::shared_ptr<const ComputingSpecial> values);

  std::string_view name() const override { return values_->name(); }
  std::string describe() const override { return values_->describe(); }
  size_t bytes() const override;
  Effects effects() const override { return {.writes = variables_, .must_run = true}; }
  size_t workspace() const override { return values_->workspace(); }
  HeavyWork heavy_work() const override { return values_->heavy_work(); }
  std::vector<InnerProgram> inner_programs() const override { return values_->inner_programs(); }
  bool is_device_code() const override { return values_->is_device_code(); }
  const VariableUpdates* variable_updates() const override { return this; }

  /// On the host. All variables are changed, or none when something is wrong with one of them.
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override;
  void compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               void* workspace) const override;

  const std::vector<Variable>& variables() const { return variables_; }
  const std::shared_ptr<const ComputingSpecial>& values() const { return values_; }

  /// Computes, or enqueues, what `values` does with these inputs and outputs.
  using Compute =
      std::function<void(std::span<const Tensor> inputs, std::span<const Tensor> outputs)>;
  /// Calls it while nobody else can reach the variables, which have the new values afterwards.
  void change(std::span<const Tensor> inputs, const Compute& compute) const;

 private:
  struct Frame;
  bool equals(const Special& other) const override;
  void take(Frame& frame, size_t next) const;

  std::vector<Variable> variables_;
  std::vector<size_t>
      order_;  // in which they are taken: everybody's, so that nobody waits in a circle
  std::shared_ptr<const ComputingSpecial> values_;
};

}  // namespace tidemark::graph
