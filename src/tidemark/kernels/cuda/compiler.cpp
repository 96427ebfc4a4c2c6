#include "tidemark/kernels/cuda/compiler.h"

#include "tidemark/kernels/cuda/launch.h"
#include "tidemark/kernels/cuda/ops_table.h"
#include "tidemark/kernels/cuda/step.h"
#include "tidemark/kernels/fusion/shown.h"

namespace tidemark::cuda {

namespace {

using fusion::Program;

[[noreturn]] void fail_unwritten(const Program& program) {
  fail<UnimplementedError>("no kernel is written yet for ", fusion::describe_ops(program),
                           ": random numbers and sums over columns are not fused on a GPU");
}

void check(const Program& program) {
  fusion::verify(program);
  if (!can_emit(program)) fail_unwritten(program);
}

class CudaProgram final : public fusion::CompiledProgram {
 public:
  explicit CudaProgram(Program program) : program_((check(program), std::move(program))) {}
  const Program& program() const override { return program_; }
  /// A thread reads an element of every input before it writes there, and a row is read by its
  /// block alone; but a row's results are written before other blocks may have read theirs.
  bool may_write_into(size_t output, size_t input) const override {
    return program_.code[program_.outputs[output].value].level == fusion::Level::element &&
           program_.output_dtype(output) == program_.inputs[input];
  }

 private:
  const Program program_;
};

/// A program as a node of a graph. The kernel is found with its first run on a stream.
class CudaGroup final : public fusion::FusedStep, public CudaStep {
 public:
  CudaGroup(Program program, std::vector<Shape> input_shapes)
      : compiled_(std::move(program)),
        input_shapes_(std::move(input_shapes)),
        walk_(compiled_.program(), input_shapes_) {
    for (size_t o = 0; o < compiled_.program().outputs.size(); ++o) {
      output_shapes_.push_back(fusion::output_shape(compiled_.program(), o, walk_.space));
    }
  }

  std::string_view name() const override { return "fused"; }
  std::string describe() const override { return fusion::describe_ops(compiled_.program()); }
  size_t bytes() const override {
    return sizeof *this + fusion::bytes_of(compiled_.program()) +
           (input_shapes_.size() + output_shapes_.size()) * sizeof(Shape);
  }
  std::vector<graph::InnerProgram> inner_programs() const override {
    return {fusion::shown(compiled_.program())};
  }
  const std::vector<Shape>& output_shapes() const override { return output_shapes_; }
  bool may_write_into(size_t output, size_t input) const override {
    return compiled_.may_write_into(output, input) &&
           input_shapes_[input] == output_shapes_[output];
  }

  void enqueue(CudaStream& stream, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               void*) const override {
    const auto code = code_for(stream, compiled_.program(), walk_);
    launch_program(stream, *code, compiled_.program(), walk_, inputs, outputs);
  }
  void run(std::span<Tensor>, std::span<Tensor>) const override { fail_on_host(); }
  void compute(std::span<const Tensor>, std::span<const Tensor>, void*) const override {
    fail_on_host();
  }

 private:
  [[noreturn]] void fail_on_host() const {
    fail<InternalError>("[", describe(), "] was made for a GPU and called on the host");
  }
  bool equals(const graph::Special& other) const override {
    const auto& group = static_cast<const CudaGroup&>(other);
    return group.compiled_.program() == compiled_.program() && group.input_shapes_ == input_shapes_;
  }

  const CudaProgram compiled_;
  const std::vector<Shape> input_shapes_;
  const Walk walk_;
  std::vector<Shape> output_shapes_;
};

class CudaCompiler final : public fusion::Compiler {
 public:
  bool is_heavy(const OpDef& op, DType dtype) const override {
    const ElementOp* found = find_element_op(op.name(), dtype);
    return found && found->is_heavy;
  }
  bool takes_programs(const OpDef&, DType) const override { return false; }
  int64_t large_update() const override { return 1 << 16; }

  std::shared_ptr<const fusion::CompiledProgram> compile(Program program) const override {
    return std::make_shared<const CudaProgram>(std::move(program));
  }
  std::shared_ptr<const fusion::FusedStep> make_group(
      Program program, std::vector<Shape> input_shapes) const override {
    return std::make_shared<const CudaGroup>(std::move(program), std::move(input_shapes));
  }
  std::shared_ptr<const fusion::FusedStep> make_product(const fusion::Product&, Program,
                                                        std::vector<Shape>, size_t) const override {
    return nullptr;
  }
  std::shared_ptr<const graph::VariableUpdates> make_sweep(
      std::vector<Variable>, std::vector<fusion::SweepItem>) const override {
    fail<UnimplementedError>("variables on a GPU are not updated in one sweep yet");
  }
  bool can_update(const fusion::Product&, const Program&, std::span<const Shape>,
                  size_t) const override {
    return false;
  }
  std::shared_ptr<const graph::VariableUpdates> make_product_update(const fusion::Product&,
                                                                    std::vector<Variable>,
                                                                    fusion::SweepItem,
                                                                    size_t) const override {
    fail<InternalError>("products on a GPU update no variables, as can_update says");
  }

 private:
  bool has_code(const OpDef& op, DType dtype) const override {
    return find_element_op(op.name(), dtype) != nullptr;
  }
};

}  // namespace

const fusion::Compiler& compiler() {
  static const auto* only = new CudaCompiler;  // steps may outlive static objects
  return *only;
}

}  // namespace tidemark::cuda
