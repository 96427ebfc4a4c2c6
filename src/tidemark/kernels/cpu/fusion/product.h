// A product of matrices, a convolution or its gradient with a fused program at its end: bias,
// activation, residual and the like work on each part of the result while it is in the cache.
#pragma once

#include "tidemark/kernels/cpu/epilogue.h"
#include "tidemark/kernels/cpu/fusion/shaped.h"

namespace tidemark::fusion {

class TIDEMARK_API FusedProduct final : public FusedStep {
 public:
  /// As Compiler::make_product. Null: the product cannot lie where one of the outputs will, or the
  /// program needs more than parts of it.
  static std::shared_ptr<const FusedProduct> make(const Product& product, FusedProgram program,
                                                  std::vector<Shape> input_shapes, size_t input);

  std::string_view name() const override { return name_; }
  /// "matmul, fused(add, relu)".
  std::string describe() const override;
  size_t bytes() const override;
  std::vector<graph::InnerProgram> inner_programs() const override;

  size_t workspace() const override { return workspace_; }
  bool may_write_into(size_t output, size_t input) const override;
  void compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               void* workspace) const override;
  graph::HeavyWork heavy_work() const override { return {operands_, &product_shape_}; }

  const std::vector<Shape>& output_shapes() const override { return output_shapes_; }
  DType output_dtype(size_t output) const override {
    return fusion_->program().output_dtype(output);
  }

 private:
  FusedProduct(const Product& product, FusedProgram program, std::vector<Shape> input_shapes,
               size_t input);
  bool equals(const graph::Special& other) const override;
  int find_target() const;
  class InParts;
  class InBlocks;
  /// Programs with column reductions run over blocks of rows that are the same whatever the parts.
  int64_t block_rows() const;
  int64_t num_blocks() const;
  size_t block_bytes() const;

  const OpDef* op_;
  std::string name_;
  std::vector<Attr> attrs_;
  size_t operands_;  // of the product
  Shape product_shape_;
  DType product_dtype_;
  const cpu::ProductKernel* kernel_;
  size_t product_workspace_, workspace_ = 0;

  std::shared_ptr<const CompiledFusion> fusion_;
  size_t product_;  // input of the program
  int target_;      // the output in whose place the product is made; -1: none fits
  std::vector<Shape> input_shapes_, output_shapes_;
  std::unique_ptr<const ShapedFusion> shaped_;
};

}  // namespace tidemark::fusion
