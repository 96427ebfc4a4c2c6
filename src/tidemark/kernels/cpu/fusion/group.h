// A fused program as a node of a graph: over inputs of known shapes, into outputs that are given.
#pragma once

#include "tidemark/kernels/cpu/fusion/shaped.h"

namespace tidemark::fusion {

class TIDEMARK_API FusedGroup final : public FusedStep {
 public:
  /// Throws InternalError when the program is broken or the shapes do not fit it.
  FusedGroup(FusedProgram program, std::vector<Shape> input_shapes);

  std::string_view name() const override { return "fused"; }
  /// "fused(multiply, add, tanh)".
  std::string describe() const override;
  size_t bytes() const override;
  std::vector<graph::InnerProgram> inner_programs() const override;

  size_t workspace() const override { return shaped_->workspace(); }
  bool may_write_into(size_t output, size_t input) const override;
  void compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               void* workspace) const override;

  const CompiledFusion& fusion() const { return *fusion_; }
  const std::vector<Shape>& output_shapes() const override { return output_shapes_; }
  DType output_dtype(size_t output) const override {
    return fusion_->program().output_dtype(output);
  }

 private:
  bool equals(const graph::Special& other) const override;

  std::shared_ptr<const CompiledFusion> fusion_;
  std::vector<Shape> input_shapes_, output_shapes_;
  std::unique_ptr<const ShapedFusion> shaped_;
};

}  // namespace tidemark::fusion
