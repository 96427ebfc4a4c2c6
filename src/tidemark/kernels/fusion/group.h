// A fused program as a node of a graph.
//
// Executors that plan memory ask for shapes and the workspace and give outputs of their own; others
// call run, which takes what it needs from the allocator.
#pragma once

#include "tidemark/graph/node.h"
#include "tidemark/kernels/fusion/compiled.h"

namespace tidemark::fusion {

class TIDEMARK_API FusedGroup final : public graph::Special {
 public:
  explicit FusedGroup(std::shared_ptr<const CompiledFusion> fusion) : fusion_(std::move(fusion)) {}

  std::string_view name() const override { return "fused"; }
  std::string describe() const override;
  /// Results lie where dying inputs did, where they may.
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override;
  bool has_effect() const override { return false; }
  bool is_same(const graph::Special& other) const override;
  size_t bytes() const override { return fusion_->bytes(); }

  const CompiledFusion& fusion() const { return *fusion_; }
  /// One a output, for inputs of these shapes. Throws InvalidArgumentError.
  std::vector<Shape> output_shapes(std::span<const Shape* const> inputs) const;
  size_t workspace(std::span<const Shape* const> inputs) const;
  /// Outputs have their shapes; an output may be an input where fusion().may_write_into says so.
  void run_into(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                void* workspace) const;

 private:
  std::shared_ptr<const CompiledFusion> fusion_;
};

}  // namespace tidemark::fusion
