#include "tidemark/kernels/cpu/fusion/product.h"

#include <algorithm>
#include <atomic>

#include "tidemark/kernels/fusion/shown.h"

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

namespace {

constexpr int64_t kBlockElements = 16 << 10;
/// Each block has partial results of its own: they are a small part of its elements.
constexpr int64_t kBlockRows = 64;

constexpr size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

/// The program over blocks of rows, by the thread that makes the last part of one.
class FusedProduct::InBlocks final : public cpu::Epilogue {
 public:
  /// `memory`: partial results, then how many elements of each block are there.
  InBlocks(const FusedProduct& product, ShapedFusion::Call& call, char* memory)
      : shaped_(*product.shaped_),
        call_(call),
        total_rows_(shaped_.geometry().rows),
        columns_(shaped_.geometry().cols),
        rows_(product.block_rows()),
        partials_(memory) {
    const int64_t blocks = product.num_blocks();
    there_ = reinterpret_cast<std::atomic<int64_t>*>(memory + shaped_.columns().partial_bytes() *
                                                                  static_cast<size_t>(blocks));
    for (int64_t b = 0; b < blocks; ++b) new (there_ + b) std::atomic<int64_t>(0);
  }

  bool needs_whole_rows() const override { return false; }
  void apply(int64_t first_row, int64_t rows, int64_t, int64_t columns) const override {
    for (int64_t row = first_row; row < first_row + rows;) {
      const int64_t block = row / rows_, begin = block * rows_;
      const int64_t in_block = std::min(rows_, total_rows_ - begin);
      const int64_t here = std::min(begin + in_block, first_row + rows) - row;
      const int64_t before = there_[block].fetch_add(here * columns, std::memory_order_acq_rel);
      if (before + here * columns == in_block * columns_) run(block, begin, in_block);
      row += here;
    }
  }

 private:
  void run(int64_t block, int64_t begin, int64_t rows) const {
    const Columns& columns = shaped_.columns();
    char* partial = partials_ + static_cast<size_t>(block) * columns.partial_bytes();
    columns.start_partial(partial, 0, columns_);
    shaped_.run_part(call_, begin, rows, 0, columns_, partial);
  }

  const ShapedFusion& shaped_;
  const ShapedFusion::Call& call_;
  const int64_t total_rows_, columns_, rows_;
  char* partials_;
  std::atomic<int64_t>* there_;
};

int64_t FusedProduct::block_rows() const {
  const Geometry& g = shaped_->geometry();
  return std::max(kBlockRows, kBlockElements / std::max<int64_t>(1, g.cols));
}
int64_t FusedProduct::num_blocks() const {
  return (shaped_->geometry().rows + block_rows() - 1) / block_rows();
}
size_t FusedProduct::block_bytes() const {
  if (shaped_->columns().empty()) return 0;
  const auto blocks = static_cast<size_t>(num_blocks());
  return blocks * (shaped_->columns().partial_bytes() + sizeof(std::atomic<int64_t>));
}

FusedProduct::FusedProduct(const Product& product, FusedProgram program,
                           std::vector<Shape> input_shapes, size_t input)
    : op_(product.op),
      name_(product.op->name() + "+fused"),
      attrs_(product.attrs),
      operands_(product.inputs.size()),
      product_shape_(product.shape),
      product_dtype_(product.dtype),
      kernel_(cpu::product_kernel(product.op->name(), product.dtype)),
      product_workspace_(kernel_->workspace({*op_, product.inputs, attrs_}, {&product.shape, 1})),
      fusion_(CompiledFusion::make(std::move(program))),
      product_(input),
      input_shapes_(std::move(input_shapes)) {
  std::vector<const Shape*> shapes;
  for (const Shape& shape : input_shapes_) shapes.push_back(&shape);
  const FusedProgram& p = fusion_->program();
  const Shape space = space_of(p, shapes);
  for (size_t o = 0; o < p.outputs.size(); ++o) output_shapes_.push_back(output_shape(p, o, space));
  shaped_ = std::make_unique<const ShapedFusion>(*fusion_, shapes);
  target_ = find_target();
  workspace_ = product_workspace_;
  if (!shaped_->columns().empty()) workspace_ = aligned(workspace_) + block_bytes();
}

std::shared_ptr<const FusedProduct> FusedProduct::make(const Product& product, FusedProgram program,
                                                       std::vector<Shape> input_shapes,
                                                       size_t input) {
  if (!cpu::product_kernel(product.op->name(), product.dtype)) return nullptr;
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
  const FusedProgram& p = fusion_->program();
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

bool FusedProduct::equals(const graph::Special& other) const {
  const auto& product = static_cast<const FusedProduct&>(other);
  return product.op_ == op_ && product.attrs_ == attrs_ && product.product_ == product_ &&
         product.operands_ == operands_ && product.product_shape_ == product_shape_ &&
         product.fusion_->program() == fusion_->program() && product.input_shapes_ == input_shapes_;
}

std::vector<graph::InnerProgram> FusedProduct::inner_programs() const {
  return {shown(fusion_->program(), op_, product_)};
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
  const OpCall product{*op_, inputs.first(operands_), attrs_};
  char* memory = static_cast<char*>(workspace);
  if (shaped_->columns().empty()) {
    return kernel_->run(product, product_shape_, place, memory, InParts(*this, call));
  }
  char* blocks = memory + aligned(product_workspace_);
  kernel_->run(product, product_shape_, place, memory, InBlocks(*this, call, blocks));
  shaped_->columns().finish(blocks, num_blocks(), shaped_->geometry().rows, call.out);
}

}  // namespace tidemark::fusion
