// New values of many variables as one step, each written where it lies.
//
// What an optimizer does to a variable is a fused program that reads the old values (the variable
// and its moments) and gives the new ones. All programs run in one go: large ones one after the
// other on all threads, small ones side by side.
#pragma once

#include "tidemark/kernels/cpu/fusion/shaped.h"

namespace tidemark::fusion {

/// Elements from which on one update keeps all threads busy.
inline constexpr int64_t kLargeUpdate = 64 << 10;

/// Where the values of a step lie that gives variables new ones: behind its other inputs come the
/// old values, and its outputs are the new ones.
struct SweepMemory {
  std::span<const Tensor> inputs, outputs;

  /// As SweepItem::inputs says it.
  const void* input(int from) const {
    const size_t first_old = inputs.size() - outputs.size();
    return inputs[from >= 0 ? first_old + static_cast<size_t>(from) : static_cast<size_t>(~from)]
        .raw_data();
  }
  void* output(int variable) const {
    return outputs[static_cast<size_t>(variable)].mutable_raw_data();
  }
};

class TIDEMARK_API Sweep final : public FusedStep {
 public:
  /// As Compiler::make_sweep. Throws InternalError for items that it must not be given.
  explicit Sweep(std::vector<SweepItem> items);

  std::string_view name() const override { return "sweep"; }
  /// "sweep over 12 variables".
  std::string describe() const override;
  void compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               void* workspace) const override;
  size_t bytes() const override;
  /// Equal programs once, with how many there are.
  std::vector<graph::InnerProgram> inner_programs() const override;

  const std::vector<Shape>& output_shapes() const override { return output_shapes_; }
  DType output_dtype(size_t output) const override { return output_dtypes_[output]; }

 private:
  bool equals(const Special& other) const override;
  void find_outputs();
  void run_item(size_t index, const SweepMemory& memory) const;

  std::vector<SweepItem> items_;      // the large ones first
  std::vector<ShapedFusion> shaped_;  // by item
  size_t num_large_ = 0;
  std::vector<Shape> output_shapes_;  // by variable
  std::vector<DType> output_dtypes_;
};

}  // namespace tidemark::fusion
