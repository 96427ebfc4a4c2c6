// Updates of many variables as one step, each variable written where it lies.
//
// What an optimizer does to a variable is a fused program that reads the old values (the variable
// and its moments) and gives the new ones. All programs run in one go: large ones one after the
// other on all threads, small ones side by side.
#pragma once

#include "tidemark/kernels/cpu/fusion/held_variables.h"
#include "tidemark/kernels/cpu/fusion/shaped.h"

namespace tidemark::fusion {

/// Elements from which on one update keeps all threads busy.
inline constexpr int64_t kLargeUpdate = 64 << 10;

class TIDEMARK_API Sweep final : public graph::VariableUpdates {
 public:
  /// As Compiler::make_sweep. Throws InternalError for items that it must not be given.
  Sweep(std::vector<Variable> variables, std::vector<SweepItem> items);

  std::string_view name() const override { return "sweep"; }
  /// "sweep over 12 variables".
  std::string describe() const override;
  /// All variables are changed, or none when something is wrong with one of them.
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override;
  void compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               void* workspace) const override;
  size_t bytes() const override;
  /// Equal programs once, with how many there are.
  std::vector<graph::InnerProgram> inner_programs() const override;

  const std::vector<Variable>& variables() const override { return variables_.all(); }

 private:
  bool equals(const Special& other) const override;
  Sweep(std::vector<Variable> variables, std::vector<SweepItem> items, std::vector<int> places);
  using Memory = HeldVariables::Memory;
  void run_items(std::span<const Tensor> inputs, const Memory& memory) const;
  void run_item(size_t index, std::span<const Tensor> inputs, const Memory& memory) const;

  HeldVariables variables_;
  std::vector<SweepItem> items_;      // the large ones first
  std::vector<ShapedFusion> shaped_;  // by item
  size_t num_large_ = 0;
};

}  // namespace tidemark::fusion
