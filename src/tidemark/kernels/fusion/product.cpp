#include "tidemark/kernels/fusion/product.h"

#include "tidemark/kernels/fusion/workspace.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::fusion {

/// The program over the parts of a product that are there.
class FusedProduct::InParts final : public cpu::Epilogue {
 public:
  InParts(const FusedProduct& product, ShapedFusion::Call& call)
      : shaped_(*product.shaped_),
        call_(call),
        columns_(product.product_shape_.dim(-1)),
        has_rows_(product.fusion_->program().has_rows()) {}

  bool needs_whole_rows() const override { return has_rows_; }
  void apply(int64_t first_row, int64_t rows, int64_t first_column,
             int64_t columns) const override {
    const int64_t begin = first_row * columns_ + first_column;
    if (columns == columns_) {
      shaped_.run_piece(call_, begin, rows * columns);
    } else {
      shaped_.run_piece(call_, begin, columns, rows, columns_);
    }
  }

 private:
  const ShapedFusion& shaped_;
  const ShapedFusion::Call& call_;
  const int64_t columns_;
  const bool has_rows_;
};

bool takes_programs(const OpDef& op, DType dtype) {
  return cpu::product_kernel(op.name(), dtype) != nullptr;
}

FusedProduct::FusedProduct(const Product& product, Program program, std::vector<Shape> input_shapes,
                           size_t input)
    : op_(product.op),
      name_(product.op->name() + "+fused"),
      attrs_(product.attrs),
      operands_(product.inputs.size()),
      product_shape_(product.shape),
      product_dtype_(product.dtype),
      kernel_(cpu::product_kernel(product.op->name(), product.dtype)),
      workspace_(kernel_->workspace({*op_, product.inputs, attrs_}, {&product.shape, 1})),
      fusion_(CompiledFusion::make(std::move(program))),
      product_(input),
      input_shapes_(std::move(input_shapes)) {
  std::vector<const Shape*> shapes;
  for (const Shape& shape : input_shapes_) shapes.push_back(&shape);
  const Program& p = fusion_->program();
  const Shape space = space_of(p, shapes);
  for (size_t o = 0; o < p.outputs.size(); ++o) output_shapes_.push_back(output_shape(p, o, space));
  shaped_ = std::make_unique<const ShapedFusion>(*fusion_, shapes);
  target_ = find_target();
}

std::shared_ptr<const FusedProduct> FusedProduct::make(const Product& product, Program program,
                                                       std::vector<Shape> input_shapes,
                                                       size_t input) {
  if (!takes_programs(*product.op, product.dtype)) return nullptr;
  std::shared_ptr<const FusedProduct> made(
      new FusedProduct(product, std::move(program), std::move(input_shapes), input));
  if (made->target_ < 0 || !made->shaped_->runs_in_pieces()) return nullptr;
  const Geometry& g = made->shaped_->geometry();
  if (g.total() != product.shape.num_elements()) return nullptr;
  const bool has_rows = made->fusion_->program().has_rows();
  return has_rows && g.cols != product.shape.dim(-1) ? nullptr : made;
}

/// The output that is the product itself, or one that may be written where it lies.
int FusedProduct::find_target() const {
  const Program& p = fusion_->program();
  int found = -1;
  for (size_t o = 0; o < p.outputs.size(); ++o) {
    const Instruction& value = p.code[p.outputs[o].value];
    if (value.dtype != product_dtype_ || value.level != Level::element) continue;
    if (value.code == Code::load && value.input == product_) return static_cast<int>(o);
    if (found < 0 && fusion_->may_write_into(o, product_)) found = static_cast<int>(o);
  }
  return found;
}

std::string FusedProduct::describe() const {
  return message(op_->name(), ", ", describe_ops(fusion_->program()));
}

bool FusedProduct::is_same(const graph::Special& other) const {
  const auto* product = dynamic_cast<const FusedProduct*>(&other);
  return product && product->op_ == op_ && product->attrs_ == attrs_ &&
         product->product_ == product_ && product->operands_ == operands_ &&
         product->product_shape_ == product_shape_ &&
         product->fusion_->program() == fusion_->program() &&
         product->input_shapes_ == input_shapes_;
}

size_t FusedProduct::bytes() const {
  return sizeof(FusedProduct) + fusion_->bytes() + shaped_->bytes() + attrs_.size() * sizeof(Attr) +
         (input_shapes_.size() + output_shapes_.size()) * sizeof(Shape);
}

bool FusedProduct::may_write_into(size_t output, size_t input) const {
  // The product is written first, where the target is, and reads its operands to the end.
  if (input < operands_ || static_cast<int>(output) == target_) return false;
  size_t own = input - operands_;
  if (own >= product_) ++own;
  return fusion_->may_write_into(output, own) && input_shapes_[own] == output_shapes_[output];
}

void FusedProduct::compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                           void* workspace) const {
  const void* in[kMaxInputs];
  void* out[kMaxOutputs];
  for (size_t o = 0; o < outputs.size(); ++o) out[o] = outputs[o].mutable_raw_data();
  void* place = out[static_cast<size_t>(target_)];
  size_t next = operands_;
  for (size_t i = 0; i < input_shapes_.size(); ++i) {
    in[i] = i == product_ ? place : inputs[next++].raw_data();
  }
  ShapedFusion::Call call;
  call.in = {in, input_shapes_.size()};
  call.out = {out, outputs.size()};
  shaped_->start(call);
  kernel_->run({*op_, inputs.first(operands_), attrs_}, product_shape_, place,
               static_cast<char*>(workspace), InParts(*this, call));
}

void FusedProduct::run(std::span<Tensor> inputs, std::span<Tensor> outputs) const {
  std::vector<Tensor> results;
  for (size_t o = 0; o < outputs.size(); ++o) {
    results.push_back(new_tensor(fusion_->program().output_dtype(o), output_shapes_[o]));
  }
  const Workspace memory(workspace_);
  compute(inputs, results, memory.data());
  for (size_t o = 0; o < outputs.size(); ++o) outputs[o] = std::move(results[o]);
}

}  // namespace tidemark::fusion
