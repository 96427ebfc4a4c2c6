#include "tidemark/kernels/fusion/group.h"

#include "tidemark/memory/buffer.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::fusion {

namespace {

struct Shapes {
  const Shape* at[kMaxInputs];
  std::span<const Shape* const> span;

  explicit Shapes(std::span<const Tensor> tensors) {
    if (tensors.size() > kMaxInputs) fail<InternalError>("a fused group of ", tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) at[i] = &tensors[i].shape();
    span = {at, tensors.size()};
  }
};

class Workspace {
 public:
  explicit Workspace(size_t bytes) {
    if (bytes > 0) {
      buffer_ = memory::allocate({.bytes = bytes, .holder = memory::Holder::workspace});
    }
  }
  ~Workspace() {
    if (buffer_) memory::release(buffer_);
  }
  Workspace(const Workspace&) = delete;
  void* data() const { return buffer_ ? buffer_->data : nullptr; }

 private:
  memory::Buffer* buffer_ = nullptr;
};

}  // namespace

std::string FusedGroup::describe() const {
  std::string ops;
  for (const Instruction& i : fusion_->program().code) {
    constexpr const char* kReductions[] = {"sum", "mean", "max", "min"};
    std::string what;
    if (i.code == Code::map) what = i.op->name();
    if (i.code == Code::cast) what = "cast";
    if (i.code == Code::select) what = "select";
    if (i.code == Code::random) what = "random";
    if (i.code == Code::reduce) what = kReductions[static_cast<int>(i.reduction)];
    if (what.empty()) continue;
    if (!ops.empty()) ops += ", ";
    ops += what;
  }
  return message("fused(", ops, ")");
}

bool FusedGroup::is_same(const graph::Special& other) const {
  const auto* group = dynamic_cast<const FusedGroup*>(&other);
  return group && group->fusion_->program() == fusion_->program();
}

std::vector<Shape> FusedGroup::output_shapes(std::span<const Shape* const> inputs) const {
  const Program& p = fusion_->program();
  const Shape space = space_of(p, inputs);
  std::vector<Shape> shapes;
  for (size_t o = 0; o < p.outputs.size(); ++o) shapes.push_back(output_shape(p, o, space));
  return shapes;
}

size_t FusedGroup::workspace(std::span<const Shape* const> inputs) const {
  return fusion_->workspace(inputs);
}

void FusedGroup::run_into(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                          void* workspace) const {
  const Shapes shapes(inputs);
  const void* in[kMaxInputs];
  void* out[kMaxOutputs];
  for (size_t i = 0; i < inputs.size(); ++i) in[i] = inputs[i].raw_data();
  for (size_t o = 0; o < outputs.size(); ++o) out[o] = outputs[o].mutable_raw_data();
  fusion_->run(shapes.span, {in, inputs.size()}, {out, outputs.size()}, workspace);
}

void FusedGroup::run(std::span<Tensor> inputs, std::span<Tensor> outputs) const {
  const Program& p = fusion_->program();
  const Shapes shapes(inputs);
  const Shape space = space_of(p, shapes.span);
  uint64_t taken = 0;
  for (size_t o = 0; o < outputs.size(); ++o) {
    const Shape shape = output_shape(p, o, space);
    Tensor result;
    for (size_t i = 0; i < inputs.size() && !result; ++i) {
      if (((taken >> i) & 1u) || !inputs[i].is_unique() || inputs[i].shape() != shape ||
          shape.num_elements() == 0 || !fusion_->may_write_into(o, i)) {
        continue;
      }
      // Other outputs that lie there already must not be written before this input is read.
      taken |= uint64_t{1} << i;
      result = view_of(inputs[i], inputs[i].mutable_raw_data(), p.output_dtype(o), shape);
    }
    outputs[o] = result ? std::move(result) : new_tensor(p.output_dtype(o), shape);
  }
  const Workspace workspace(fusion_->workspace(shapes.span));
  run_into(inputs, outputs, workspace.data());
}

}  // namespace tidemark::fusion
