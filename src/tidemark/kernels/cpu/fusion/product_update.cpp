#include "tidemark/kernels/cpu/fusion/product_update.h"

#include <algorithm>

#include "tidemark/kernels/fusion/shown.h"

namespace tidemark::fusion {

namespace {

std::vector<const Shape*> pointers_to(std::span<const Shape> shapes) {
  std::vector<const Shape*> pointers;
  for (const Shape& shape : shapes) pointers.push_back(&shape);
  return pointers;
}

}  // namespace

/// The program over the parts of a product that is nowhere whole.
class ProductUpdate::InParts final : public cpu::Epilogue {
 public:
  InParts(const ProductUpdate& update, const ShapedFusion::Call& call)
      : program_(update.fusion().program()),
        shaped_(update.shaped_),
        call_(call),
        product_(update.product_),
        columns_(update.product_shape_.dim(-1)) {}

  bool needs_whole_rows() const override { return false; }
  void apply(int64_t, int64_t, int64_t, int64_t) const override {
    fail<InternalError>("a product without a place was made in one");
  }
  void apply_to(const void* part, int64_t stride, int64_t first_row, int64_t rows,
                int64_t first_column, int64_t columns) const override {
    const auto item = static_cast<int64_t>(size_of(program_.inputs[product_]));
    const bool is_dense = columns == columns_ && stride == columns_;
    // Of rows that are cut only a few lines follow each other in memory: too few for the machine to
    // see where they lead, so those of the next rows are asked for.
    if (!is_dense) fetch(first_row, std::min(kAhead, rows), first_column, columns);
    for (int64_t done = 0, now; done < rows; done += now) {
      now = is_dense ? rows : std::min(kAhead, rows - done);
      const int64_t row = first_row + done, begin = row * columns_ + first_column;
      if (!is_dense) fetch(row + now, std::min(kAhead, rows - done - now), first_column, columns);
      const void* data = static_cast<const char*>(part) + done * stride * item;
      const ShapedFusion::PartOfInput here{product_, data, stride};
      shaped_.run_piece(call_, begin, is_dense ? rows * columns : columns, is_dense ? 1 : now,
                        columns_, &here);
    }
  }

 private:
  static constexpr int64_t kAhead = 4;  // rows
  static constexpr int64_t kLine = 64;

  void fetch(int64_t row, int64_t rows, int64_t first_column, int64_t columns) const {
    for (size_t o = 0; o < call_.out.size(); ++o) {
      const auto item = static_cast<int64_t>(size_of(program_.output_dtype(o)));
      for (int64_t r = row; r < row + rows; ++r) {
        const char* at =
            static_cast<const char*>(call_.out[o]) + (r * columns_ + first_column) * item;
        for (int64_t b = 0; b < columns * item; b += kLine) __builtin_prefetch(at + b, 1);
      }
    }
  }

  const FusedProgram& program_;
  const ShapedFusion& shaped_;
  const ShapedFusion::Call& call_;
  const size_t product_;
  const int64_t columns_;
};

bool ProductUpdate::can_take(const Product& product, const FusedProgram& program,
                             std::span<const Shape> input_shapes, size_t input) {
  const cpu::ProductKernel* kernel = cpu::product_kernel(product.op->name(), product.dtype);
  if (!kernel || !kernel->workspace_for_parts || program.has_rows() || program.has_random()) {
    return false;
  }
  if (program.inputs[input] != product.dtype) return false;
  const auto shapes = pointers_to(input_shapes);
  const int64_t elements = product.shape.num_elements();
  return elements > 0 && input_shapes[input].num_elements() == elements &&
         space_of(program, shapes).num_elements() == elements;
}

ProductUpdate::ProductUpdate(const Product& product, SweepItem item, size_t input)
    : op_(product.op),
      name_(product.op->name() + "+update"),
      attrs_(product.attrs),
      operands_(product.inputs.size()),
      product_shape_(product.shape),
      kernel_(cpu::product_kernel(product.op->name(), product.dtype)),
      workspace_(kernel_->workspace_for_parts({*op_, product.inputs, attrs_}, {&product.shape, 1})),
      item_(std::move(item)),
      product_(input),
      shaped_(fusion(), pointers_to(item_.input_shapes)),
      output_shapes_(item_.outputs.size()),
      output_dtypes_(item_.outputs.size()) {
  const FusedProgram& program = fusion().program();
  if (!shaped_.runs_in_pieces()) {
    fail<InternalError>("an update cannot run on parts of a product\n", to_string(program));
  }
  const Shape space = space_of(program, pointers_to(item_.input_shapes));
  for (size_t o = 0; o < item_.outputs.size(); ++o) {
    const auto variable = static_cast<size_t>(item_.outputs[o]);
    output_shapes_[variable] = output_shape(program, o, space);
    output_dtypes_[variable] = program.output_dtype(o);
  }
}

std::string ProductUpdate::describe() const {
  return message(op_->name(), ", ", describe_ops(fusion().program()), " into ",
                 output_shapes_.size(), output_shapes_.size() == 1 ? " variable" : " variables");
}

void ProductUpdate::compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                            void* workspace) const {
  const SweepMemory memory{inputs, outputs};
  const void* in[kMaxInputs];
  void* out[kMaxOutputs];
  for (size_t i = 0; i < item_.inputs.size(); ++i) {
    in[i] = i == product_ ? nullptr : memory.input(item_.inputs[i]);
  }
  for (size_t o = 0; o < item_.outputs.size(); ++o) out[o] = memory.output(item_.outputs[o]);
  ShapedFusion::Call call;
  call.in = {in, item_.inputs.size()};
  call.out = {out, item_.outputs.size()};
  shaped_.start(call);
  kernel_->run({*op_, inputs.first(operands_), attrs_}, product_shape_, nullptr,
               static_cast<char*>(workspace), InParts(*this, call));
}

bool ProductUpdate::equals(const graph::Special& other) const {
  const auto& update = static_cast<const ProductUpdate&>(other);
  return update.op_ == op_ && update.attrs_ == attrs_ && update.product_ == product_ &&
         update.operands_ == operands_ && update.product_shape_ == product_shape_ &&
         update.item_.inputs == item_.inputs && update.item_.outputs == item_.outputs &&
         update.item_.input_shapes == item_.input_shapes &&
         update.fusion().program() == fusion().program();
}

std::vector<graph::InnerProgram> ProductUpdate::inner_programs() const {
  return {shown(fusion().program(), op_, product_)};
}

size_t ProductUpdate::bytes() const {
  return sizeof(ProductUpdate) + fusion().bytes() + shaped_.bytes() + attrs_.size() * sizeof(Attr) +
         output_shapes_.size() * (sizeof(Shape) + sizeof(DType)) +
         item_.inputs.size() * (sizeof(Shape) + sizeof(int)) + item_.outputs.size() * sizeof(int);
}

}  // namespace tidemark::fusion
