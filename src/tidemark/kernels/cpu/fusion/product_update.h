// A product of matrices whose result gives variables new values and goes nowhere else, as the
// gradient of weights does: the program of the update runs on each part of the product while it is
// in the cache, and the product is never whole anywhere.
#pragma once

#include "tidemark/kernels/cpu/fusion/product.h"
#include "tidemark/kernels/cpu/fusion/sweep.h"

namespace tidemark::fusion {

class TIDEMARK_API ProductUpdate final : public FusedStep {
 public:
  /// As Compiler::can_update: whether the program can go on with parts of the product.
  static bool can_take(const Product& product, const FusedProgram& program,
                       std::span<const Shape> input_shapes, size_t input);

  /// As Compiler::make_product_update.
  ProductUpdate(const Product& product, SweepItem item, size_t input);

  std::string_view name() const override { return name_; }
  /// "matmul, fused(multiply, add) into 3 variables".
  std::string describe() const override;
  size_t workspace() const override { return workspace_; }
  void compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               void* workspace) const override;
  size_t bytes() const override;
  std::vector<graph::InnerProgram> inner_programs() const override;
  graph::HeavyWork heavy_work() const override { return {operands_, &product_shape_}; }

  const std::vector<Shape>& output_shapes() const override { return output_shapes_; }
  DType output_dtype(size_t output) const override { return output_dtypes_[output]; }

 private:
  bool equals(const graph::Special& other) const override;
  const CompiledFusion& fusion() const { return compiled_here(*item_.compiled); }
  class InParts;

  const OpDef* op_;
  std::string name_;
  std::vector<Attr> attrs_;
  size_t operands_;  // of the product
  Shape product_shape_;
  const cpu::ProductKernel* kernel_;
  size_t workspace_;

  SweepItem item_;
  size_t product_;  // input of the program
  ShapedFusion shaped_;
  std::vector<Shape> output_shapes_;  // by variable
  std::vector<DType> output_dtypes_;
};

}  // namespace tidemark::fusion
