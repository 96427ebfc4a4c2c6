// Fused programs on the emulated device: the CPU's, but for ops that it was told to be without.
#pragma once

#include <set>
#include <string>

#include "tidemark/kernels/fusion/compiler.h"

namespace tidemark::emulated {

/// By name.
using OpNames = std::set<std::string, std::less<>>;

class EmulatedCompiler final : public fusion::Compiler {
 public:
  EmulatedCompiler(const fusion::Compiler& host, const OpNames& without)
      : host_(host), without_(without) {}

  bool can_have(fusion::Code code) const override { return host_.can_have(code); }
  bool is_heavy(const OpDef& op, DType dtype) const override { return host_.is_heavy(op, dtype); }
  bool takes_programs(const OpDef& product, DType dtype) const override {
    return !without_.contains(product.name()) && host_.takes_programs(product, dtype);
  }
  int64_t large_update() const override { return host_.large_update(); }

  std::shared_ptr<const fusion::CompiledProgram> compile(
      fusion::FusedProgram program) const override {
    return host_.compile(std::move(program));
  }
  std::shared_ptr<const fusion::FusedStep> make_group(
      fusion::FusedProgram program, std::vector<Shape> input_shapes) const override {
    return host_.make_group(std::move(program), std::move(input_shapes));
  }
  std::shared_ptr<const fusion::FusedStep> make_product(const fusion::Product& product,
                                                        fusion::FusedProgram program,
                                                        std::vector<Shape> input_shapes,
                                                        size_t input) const override {
    return host_.make_product(product, std::move(program), std::move(input_shapes), input);
  }
  std::shared_ptr<const fusion::FusedStep> make_sweep(
      std::vector<fusion::SweepItem> items) const override {
    return host_.make_sweep(std::move(items));
  }
  bool can_update(const fusion::Product& product, const fusion::FusedProgram& program,
                  std::span<const Shape> input_shapes, size_t input) const override {
    return host_.can_update(product, program, input_shapes, input);
  }
  std::shared_ptr<const fusion::FusedStep> make_product_update(const fusion::Product& product,
                                                               fusion::SweepItem item,
                                                               size_t input) const override {
    return host_.make_product_update(product, std::move(item), input);
  }

 private:
  bool has_code(const OpDef& op, DType dtype) const override {
    return !without_.contains(op.name()) && host_.can_fuse(op, dtype);
  }

  const fusion::Compiler& host_;
  const OpNames& without_;
};

}  // namespace tidemark::emulated
