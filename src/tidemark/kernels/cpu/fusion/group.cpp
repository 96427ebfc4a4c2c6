#include "tidemark/kernels/cpu/fusion/group.h"

#include "tidemark/kernels/fusion/shown.h"

namespace tidemark::fusion {

std::string FusedGroup::describe() const { return describe_ops(fusion_->program()); }

FusedGroup::FusedGroup(FusedProgram program, std::vector<Shape> input_shapes)
    : fusion_(CompiledFusion::make(std::move(program))), input_shapes_(std::move(input_shapes)) {
  const FusedProgram& p = fusion_->program();
  if (p.inputs.size() != input_shapes_.size()) {
    fail<InternalError>("a fused group of ", p.inputs.size(), " inputs was given ",
                        input_shapes_.size(), " shapes");
  }
  const Shape* shapes[kMaxInputs];
  for (size_t i = 0; i < input_shapes_.size(); ++i) shapes[i] = &input_shapes_[i];
  const std::span<const Shape* const> all(shapes, input_shapes_.size());
  const Shape space = space_of(p, all);
  for (size_t o = 0; o < p.outputs.size(); ++o) output_shapes_.push_back(output_shape(p, o, space));
  shaped_ = std::make_unique<const ShapedFusion>(*fusion_, all);
}

bool FusedGroup::equals(const graph::Special& other) const {
  const auto& group = static_cast<const FusedGroup&>(other);
  return group.fusion_->program() == fusion_->program() && group.input_shapes_ == input_shapes_;
}

std::vector<graph::InnerProgram> FusedGroup::inner_programs() const {
  return {shown(fusion_->program())};
}

size_t FusedGroup::bytes() const {
  return sizeof(FusedGroup) + fusion_->bytes() + shaped_->bytes() +
         (input_shapes_.size() + output_shapes_.size()) * sizeof(Shape);
}

bool FusedGroup::may_write_into(size_t output, size_t input) const {
  return fusion_->may_write_into(output, input) && input_shapes_[input] == output_shapes_[output];
}

void FusedGroup::compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                         void* workspace) const {
  const void* in[kMaxInputs];
  void* out[kMaxOutputs];
  for (size_t i = 0; i < inputs.size(); ++i) in[i] = inputs[i].raw_data();
  for (size_t o = 0; o < outputs.size(); ++o) out[o] = outputs[o].mutable_raw_data();
  shaped_->run({in, inputs.size()}, {out, outputs.size()}, workspace);
}

}  // namespace tidemark::fusion
