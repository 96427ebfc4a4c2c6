#include "tidemark/kernels/cuda/compiler.h"

#include <algorithm>

#include "tidemark/kernels/cuda/launch.h"
#include "tidemark/kernels/cuda/ops_table.h"
#include "tidemark/kernels/cuda/step.h"
#include "tidemark/kernels/fusion/shown.h"

namespace tidemark::cuda {

namespace {

using fusion::FusedProgram;

void check(const FusedProgram& program) {
  fusion::verify(program);
  if (can_emit(program)) return;
  fail<InternalError>("a GPU has no code for ", fusion::describe_ops(program),
                      ", as its compiler says");
}

class CudaProgram final : public fusion::CompiledProgram {
 public:
  explicit CudaProgram(FusedProgram program) : program_((check(program), std::move(program))) {}
  const FusedProgram& program() const override { return program_; }
  /// A thread reads an element of every input before it writes there, and a row is read by its
  /// block alone; but a row's results are written before other blocks may have read theirs.
  bool may_write_into(size_t output, size_t input) const override {
    return program_.code[program_.outputs[output].value].level == fusion::Level::element &&
           program_.output_dtype(output) == program_.inputs[input];
  }

 private:
  const FusedProgram program_;
};

/// What both kinds of steps have in common: they run on a stream and nowhere else.
class CudaFused : public fusion::FusedStep, public CudaStep {
 public:
  void compute(std::span<const Tensor>, std::span<const Tensor>, void*) const final {
    fail<InternalError>("[", describe(), "] was made for a GPU and called on the host");
  }
};

/// A program as a node of a graph. The kernel is found with its first run on a stream.
class CudaGroup final : public CudaFused {
 public:
  CudaGroup(FusedProgram program, std::vector<Shape> input_shapes)
      : compiled_(std::move(program)),
        input_shapes_(std::move(input_shapes)),
        walk_(compiled_.program(), input_shapes_),
        key_(key_of(compiled_.program(), walk_)) {
    for (size_t o = 0; o < compiled_.program().outputs.size(); ++o) {
      output_shapes_.push_back(fusion::output_shape(compiled_.program(), o, walk_.space));
    }
  }

  std::string_view name() const override { return "fused"; }
  std::string describe() const override { return fusion::describe_ops(compiled_.program()); }
  size_t bytes() const override {
    return sizeof *this + fusion::bytes_of(compiled_.program()) + key_.size() +
           (input_shapes_.size() + output_shapes_.size()) * sizeof(Shape);
  }
  std::vector<graph::InnerProgram> inner_programs() const override {
    return {fusion::shown(compiled_.program())};
  }
  const std::vector<Shape>& output_shapes() const override { return output_shapes_; }
  DType output_dtype(size_t output) const override {
    return compiled_.program().output_dtype(output);
  }
  bool may_write_into(size_t output, size_t input) const override {
    return compiled_.may_write_into(output, input) &&
           input_shapes_[input] == output_shapes_[output];
  }

  void enqueue(CudaStream& stream, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               void*) const override {
    const auto code = code_for(stream, compiled_.program(), walk_, key_);
    launch_program(stream, code, compiled_.program(), walk_, inputs, outputs);
  }

 private:
  bool equals(const graph::Special& other) const override {
    const auto& group = static_cast<const CudaGroup&>(other);
    return group.compiled_.program() == compiled_.program() && group.input_shapes_ == input_shapes_;
  }

  const CudaProgram compiled_;
  const std::vector<Shape> input_shapes_;
  const Walk walk_;
  const std::string key_;
  std::vector<Shape> output_shapes_;
};

/// New values of many variables, a kernel each.
class CudaSweep final : public CudaFused {
 public:
  explicit CudaSweep(std::vector<fusion::SweepItem> items) : items_(std::move(items)) {
    size_t variables = 0;
    for (const fusion::SweepItem& item : items_) variables += item.outputs.size();
    output_shapes_.resize(variables);
    output_dtypes_.resize(variables);
    for (const fusion::SweepItem& item : items_) {
      const FusedProgram& program = item.compiled->program();
      const Walk& walk = walks_.emplace_back(program, item.input_shapes);
      keys_.push_back(key_of(program, walk));
      for (size_t o = 0; o < item.outputs.size(); ++o) {
        const auto variable = static_cast<size_t>(item.outputs[o]);
        output_shapes_[variable] = fusion::output_shape(program, o, walk.space);
        output_dtypes_[variable] = program.output_dtype(o);
      }
    }
  }

  std::string_view name() const override { return "sweep"; }
  std::string describe() const override {
    return message("sweep over ", output_shapes_.size(), " variables");
  }
  size_t bytes() const override {
    size_t bytes = sizeof *this + output_shapes_.size() * (sizeof(Shape) + sizeof(DType));
    for (const fusion::SweepItem& item : items_) {
      bytes += sizeof item + sizeof(Walk) + sizeof(std::string) +
               fusion::bytes_of(item.compiled->program()) +
               item.input_shapes.size() * (sizeof(Shape) + 2 * sizeof(int));
    }
    return bytes;
  }
  std::vector<graph::InnerProgram> inner_programs() const override {
    std::vector<graph::InnerProgram> all;
    for (const auto& item : items_) all.push_back(fusion::shown(item.compiled->program()));
    return all;
  }
  const std::vector<Shape>& output_shapes() const override { return output_shapes_; }
  DType output_dtype(size_t output) const override { return output_dtypes_[output]; }

  void enqueue(CudaStream& stream, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
               void*) const override {
    const size_t first_old = inputs.size() - outputs.size();
    for (size_t i = 0; i < items_.size(); ++i) {
      const fusion::SweepItem& item = items_[i];
      std::vector<Tensor> in, out;
      for (const int from : item.inputs) {
        in.push_back(
            inputs[from >= 0 ? first_old + static_cast<size_t>(from) : static_cast<size_t>(~from)]);
      }
      for (const int variable : item.outputs) {
        out.push_back(outputs[static_cast<size_t>(variable)]);
      }
      const FusedProgram& program = item.compiled->program();
      launch_program(stream, code_for(stream, program, walks_[i], keys_[i]), program, walks_[i], in,
                     out);
    }
  }

 private:
  bool equals(const graph::Special& other) const override {
    const auto& sweep = static_cast<const CudaSweep&>(other);
    return std::equal(items_.begin(), items_.end(), sweep.items_.begin(), sweep.items_.end(),
                      [](const fusion::SweepItem& a, const fusion::SweepItem& b) {
                        return a.inputs == b.inputs && a.outputs == b.outputs &&
                               a.input_shapes == b.input_shapes &&
                               a.compiled->program() == b.compiled->program();
                      });
  }

  const std::vector<fusion::SweepItem> items_;
  std::vector<Walk> walks_;           // by item
  std::vector<std::string> keys_;     // of their kernels
  std::vector<Shape> output_shapes_;  // by variable
  std::vector<DType> output_dtypes_;
};

class CudaCompiler final : public fusion::Compiler {
 public:
  bool can_have(fusion::Code code) const override {
    return code != fusion::Code::collect && code != fusion::Code::random;
  }
  bool is_heavy(const OpDef& op, DType dtype) const override {
    const ElementOp* found = find_element_op(op.name(), dtype);
    return found && found->is_heavy;
  }
  bool takes_programs(const OpDef&, DType) const override { return false; }
  int64_t large_update() const override { return 1 << 16; }

  std::shared_ptr<const fusion::CompiledProgram> compile(FusedProgram program) const override {
    return std::make_shared<const CudaProgram>(std::move(program));
  }
  std::shared_ptr<const fusion::FusedStep> make_group(
      FusedProgram program, std::vector<Shape> input_shapes) const override {
    return std::make_shared<const CudaGroup>(std::move(program), std::move(input_shapes));
  }
  std::shared_ptr<const fusion::FusedStep> make_product(const fusion::Product&, FusedProgram,
                                                        std::vector<Shape>, size_t) const override {
    return nullptr;
  }
  std::shared_ptr<const fusion::FusedStep> make_sweep(
      std::vector<fusion::SweepItem> items) const override {
    return std::make_shared<const CudaSweep>(std::move(items));
  }
  bool can_update(const fusion::Product&, const FusedProgram&, std::span<const Shape>,
                  size_t) const override {
    return false;
  }
  std::shared_ptr<const fusion::FusedStep> make_product_update(const fusion::Product&,
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
