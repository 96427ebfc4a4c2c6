// Compiler: how fused programs become code, and steps of graphs, on a device. The part of the
// backend contract (base/backend.h) that speaks of programs.
//
//   const fusion::Compiler& compiler = backend_of(device).fusion();
//   if (compiler.can_fuse(op, DType::float32)) …             // an instruction of a program
//   auto step = compiler.make_group(program, shapes);         // a node of a graph
//
// That an op is elementwise and cannot fail is said by its definition; the compiler says whether
// the device has code for it.
#pragma once

#include <memory>

#include "tidemark/graph/specials.h"
#include "tidemark/kernels/fusion/ir.h"

namespace tidemark::fusion {

/// A program as a compiler made it ready to run.
class TIDEMARK_API CompiledProgram {
 public:
  virtual ~CompiledProgram() = default;
  virtual const FusedProgram& program() const = 0;
  /// Whether output `output` may lie where input `input` does, if both have the same shape.
  virtual bool may_write_into(size_t output, size_t input) const = 0;
};

/// A step that runs programs, over inputs of known shapes, into outputs that are given. Of its
/// inputs, those lie on the host that a product's definition reads there; all else lies where the
/// step runs.
class TIDEMARK_API FusedStep : public graph::PureSpecial {
 public:
  virtual const std::vector<Shape>& output_shapes() const = 0;
  virtual DType output_dtype(size_t output) const = 0;
  bool is_device_code() const final { return true; }
  /// On the host, in memory from the allocator.
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const final;
};

/// An op whose result a program may go on with.
struct Product {
  const OpDef* op = nullptr;
  std::vector<Attr> attrs;
  std::vector<Tensor> inputs;  // of some graph; asked for their sizes only
  Shape shape;
  DType dtype = DType::invalid;
};

/// One program that gives variables new values, and what it works on. A step made of such programs
/// has the new values as outputs; behind its other inputs come the old ones, in the same order, and
/// their memory may be that of the new ones.
struct SweepItem {
  std::shared_ptr<const CompiledProgram> compiled;  // by the compiler that makes the step
  std::vector<Shape> input_shapes;
  /// By input of the program: the old value of a variable, or ~i for input i of the step.
  std::vector<int> inputs;
  /// By output of the program: the variable.
  std::vector<int> outputs;
};

class TIDEMARK_API Compiler {
 public:
  virtual ~Compiler() = default;

  /// Whether the op over elements of this dtype can be an instruction.
  bool can_fuse(const OpDef& op, DType dtype) const {
    return is_fusable(op, dtype) && has_code(op, dtype);
  }
  /// Whether programs may have instructions of this kind that are no maps: reductions over columns,
  /// random numbers.
  virtual bool can_have(Code) const { return true; }
  /// Whether the op costs much more than reading and writing its elements.
  virtual bool is_heavy(const OpDef& op, DType dtype) const = 0;
  /// Whether programs can go on with the result of this op.
  virtual bool takes_programs(const OpDef& product, DType dtype) const = 0;
  /// Elements from which on one update keeps all of the device busy.
  virtual int64_t large_update() const = 0;

  /// Throws InternalError when the program is broken.
  virtual std::shared_ptr<const CompiledProgram> compile(FusedProgram program) const = 0;
  /// Throws InternalError when the program is broken or the shapes do not fit it.
  virtual std::shared_ptr<const FusedStep> make_group(FusedProgram program,
                                                      std::vector<Shape> input_shapes) const = 0;
  /// Input `input` of the program stands for the product's result. The step's inputs are the
  /// product's and, behind them, the program's others. Null: the program cannot go on with it.
  virtual std::shared_ptr<const FusedStep> make_product(const Product& product,
                                                        FusedProgram program,
                                                        std::vector<Shape> input_shapes,
                                                        size_t input) const = 0;
  /// All programs in one go. No variable is written by two items, nor read by one and written by
  /// another. Programs without reductions.
  virtual std::shared_ptr<const FusedStep> make_sweep(std::vector<SweepItem> items) const = 0;
  /// Whether make_product_update can be asked for this program.
  virtual bool can_update(const Product& product, const FusedProgram& program,
                          std::span<const Shape> input_shapes, size_t input) const = 0;
  /// A product whose result changes variables and goes nowhere else. `item.inputs` counts inputs of
  /// the step: the product's and, behind them, the program's others. What it says of input `input`
  /// of the program, which stands for the product, is not looked at.
  virtual std::shared_ptr<const FusedStep> make_product_update(const Product& product,
                                                               SweepItem item,
                                                               size_t input) const = 0;

 private:
  virtual bool has_code(const OpDef& op, DType dtype) const = 0;
};

}  // namespace tidemark::fusion
