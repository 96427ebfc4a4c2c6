// A product of matrices whose result changes variables and goes nowhere else, as the gradient of
// weights does: the program of the update runs on each part of the product while it is in the
// cache, writes the variables where they lie, and the product is never whole anywhere.
#pragma once

#include "tidemark/kernels/cpu/fusion/product.h"
#include "tidemark/kernels/cpu/fusion/sweep.h"

namespace tidemark::fusion {

class TIDEMARK_API ProductUpdate final : public graph::VariableUpdates {
 public:
  /// As Compiler::can_update: whether the program can go on with parts of the product.
  static bool can_take(const Product& product, const Program& program,
                       std::span<const Shape> input_shapes, size_t input);

  /// As Compiler::make_product_update.
  ProductUpdate(const Product& product, std::vector<Variable> variables, SweepItem item,
                size_t input);

  std::string_view name() const override { return name_; }
  /// "matmul, fused(multiply, add) into 3 variables".
  std::string describe() const override;
  const std::vector<Variable>& variables() const override { return variables_.all(); }
  size_t workspace() const override { return workspace_; }
  /// All variables are changed, or none when something is wrong with one of them.
  void compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               void* workspace) const override;
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override;
  size_t bytes() const override;
  std::vector<graph::InnerProgram> inner_programs() const override;
  graph::HeavyWork heavy_work() const override { return {operands_, &product_shape_}; }

 private:
  bool equals(const graph::Special& other) const override;
  const CompiledFusion& fusion() const { return compiled_here(*item_.compiled); }
  ProductUpdate(const Product& product, std::vector<Variable> variables, SweepItem item,
                size_t input, std::vector<int> places);
  void run_in_parts(std::span<const Tensor> inputs, char* workspace,
                    const HeldVariables::Memory& memory) const;
  class InParts;

  const OpDef* op_;
  std::string name_;
  std::vector<Attr> attrs_;
  size_t operands_;  // of the product
  Shape product_shape_;
  const cpu::ProductKernel* kernel_;
  size_t workspace_;

  HeldVariables variables_;
  SweepItem item_;
  size_t product_;  // input of the program
  ShapedFusion shaped_;
};

}  // namespace tidemark::fusion
