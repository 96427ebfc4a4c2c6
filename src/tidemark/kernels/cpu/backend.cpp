#include "tidemark/kernels/cpu/backend.h"

#include "tidemark/kernels/cpu/elementwise/loops_of_level.h"
#include "tidemark/kernels/cpu/epilogue.h"
#include "tidemark/kernels/cpu/fusion/group.h"
#include "tidemark/kernels/cpu/fusion/product_update.h"
#include "tidemark/kernels/host_kernel.h"

namespace tidemark::cpu {

namespace {

class CpuCompiler final : public fusion::Compiler {
 public:
  bool is_heavy(const OpDef& op, DType dtype) const override {
    const ElementwiseLoop* loop = loop_for(op.name(), dtype);
    return loop && loop->heavy;
  }
  bool takes_programs(const OpDef& product, DType dtype) const override {
    return product_kernel(product.name(), dtype) != nullptr;
  }
  int64_t large_update() const override { return fusion::kLargeUpdate; }

  std::shared_ptr<const fusion::CompiledProgram> compile(
      fusion::FusedProgram program) const override {
    return fusion::CompiledFusion::make(std::move(program));
  }
  std::shared_ptr<const fusion::FusedStep> make_group(
      fusion::FusedProgram program, std::vector<Shape> input_shapes) const override {
    return std::make_shared<const fusion::FusedGroup>(std::move(program), std::move(input_shapes));
  }
  std::shared_ptr<const fusion::FusedStep> make_product(const fusion::Product& product,
                                                        fusion::FusedProgram program,
                                                        std::vector<Shape> input_shapes,
                                                        size_t input) const override {
    return fusion::FusedProduct::make(product, std::move(program), std::move(input_shapes), input);
  }
  std::shared_ptr<const fusion::FusedStep> make_sweep(
      std::vector<fusion::SweepItem> items) const override {
    return std::make_shared<const fusion::Sweep>(std::move(items));
  }
  bool can_update(const fusion::Product& product, const fusion::FusedProgram& program,
                  std::span<const Shape> input_shapes, size_t input) const override {
    return fusion::ProductUpdate::can_take(product, program, input_shapes, input);
  }
  std::shared_ptr<const fusion::FusedStep> make_product_update(const fusion::Product& product,
                                                               fusion::SweepItem item,
                                                               size_t input) const override {
    return std::make_shared<const fusion::ProductUpdate>(product, std::move(item), input);
  }

 private:
  bool has_code(const OpDef& op, DType dtype) const override {
    return loop_for(op.name(), dtype) != nullptr;
  }
};

class CpuBackend final : public Backend {
 public:
  const Kernel* find_kernel(const OpDef& op, DType key) const override {
    return find_host_kernel(op, key);
  }
  const fusion::Compiler& fusion() const override { return compiler_; }
  Costs costs() const override {
    return {.bytes_per_second = 8e9, .products_per_second = 5e10, .seconds_per_step = 1e-6};
  }

 private:
  CpuCompiler compiler_;
};

}  // namespace

const Backend& backend() {
  static const auto* cpu = new CpuBackend;  // steps may outlive static objects
  return *cpu;
}

}  // namespace tidemark::cpu
