// The fusion IR: many elementwise ops and reductions over rows and columns as one pass over memory.
//
//   fusion::Builder b;
//   const Value x = b.load(DType::float32);
//   const Value w = b.map(op("square"), {x});
//   b.output(b.map(op("multiply"), {w, b.constant(DType::float32, 2)}));
//   fusion::FusedProgram p = b.finish();
//
// A fused program is a straight line of instructions in single assignment form. It names no sizes:
// the inputs' shapes, broadcast together, are the space it runs over. With reductions, the last
// `row_dims` dimensions of that space are a row; an instruction works on every element, or once
// a row. Reductions over a row may be used again; those over columns, which take in every row, are
// results alone. What an elementwise op computes is said by its definition; back ends (an
// interpreter, machine code, later CUDA) know ops by their names.
#pragma once

#include <tidemark/op.h>

#include <array>
#include <string>
#include <vector>

namespace tidemark::fusion {

using Value = uint16_t;  // number of an instruction
inline constexpr Value kNoValue = 0xffff;
inline constexpr int kMaxInputs = 32;
inline constexpr int kMaxOutputs = 16;
inline constexpr int kMaxInstructions = 256;

enum class Code : uint8_t {
  load,      // an input, broadcast to the space
  constant,  // params[0]
  map,       // an elementwise op
  select,    // args[0] ? args[1] : args[2]
  cast,      // to dtype
  reduce,    // over a row
  collect,   // over all rows, element by element
  random,    // as the random ops draw: element i of a stream
};
enum class Reduction : uint8_t { sum, mean, max, min };
inline bool is_sum(Reduction r) { return r == Reduction::sum || r == Reduction::mean; }
enum class Drawn : uint8_t { normal, truncated_normal, uniform };
enum class Level : uint8_t { element, row, column };

struct Instruction {
  Code code = Code::constant;
  DType dtype = DType::invalid;
  Level level = Level::element;
  Reduction reduction = Reduction::sum;
  Drawn drawn = Drawn::uniform;
  uint8_t arity = 0;
  bool has_seed = false;   // random: `seed` is the op's own, else the process's generator decides
  bool is_stream = false;  // random: the input holds a key and a counter, not a seed
  /// load: the number of the input. random: that of the seed or stream, kNoValue: stateful.
  uint16_t input = kNoValue;
  std::array<Value, 3> args = {kNoValue, kNoValue, kNoValue};
  const OpDef* op = nullptr;
  /// map: the op's attributes as numbers. random: mean and deviation, or the bounds.
  std::array<double, 2> params = {0, 0};
  int64_t seed = 0;

  bool operator==(const Instruction&) const = default;
};

struct Output {
  Value value = 0;
  /// Of a reduction: the reduced dimensions are left out, not kept with size 1.
  bool drops_dims = false;
  bool operator==(const Output&) const = default;
};

/// Plain data: copied, compared, hashed, printed.
struct FusedProgram {
  std::vector<DType> inputs;
  std::vector<Instruction> code;
  std::vector<Output> outputs;
  /// 0: no reductions. kAllDims: the whole space is one row.
  int row_dims = 0;
  static constexpr int kAllDims = -1;

  bool operator==(const FusedProgram&) const = default;
  bool has_rows() const { return row_dims != 0; }
  /// Whether some instruction works once a row: the program has to run row by row.
  bool runs_by_row() const;
  bool has_columns() const;
  bool has_random() const;
  DType output_dtype(size_t i) const { return code[outputs[i].value].dtype; }
};

/// Throws InternalError that says what does not fit.
void verify(const FusedProgram& program);
size_t hash_of(const FusedProgram& program);
size_t bytes_of(const FusedProgram& program);
/// "%2 = multiply(%0, %1) : float32", one line an instruction.
std::string to_string(const FusedProgram& program);
/// "fused(multiply, add, tanh)".
std::string describe_ops(const FusedProgram& program);

/// Whether an op over elements of this dtype can be an instruction, by its definition: it is
/// elementwise, a program has its dtypes, and it cannot fail on some values. Whether a device has
/// code for it is asked of its compiler (compiler.h).
TIDEMARK_API bool is_fusable(const OpDef& op, DType dtype);
/// The dtype of a map's result; invalid: the op cannot be one.
DType result_of(const OpDef& op, DType in);
/// float32 for the half types, which are computed in float and rounded after every instruction.
constexpr DType computed_in(DType d) {
  return d == DType::float16 || d == DType::bfloat16 ? DType::float32 : d;
}
constexpr bool is_half(DType d) { return d == DType::float16 || d == DType::bfloat16; }

/// The space a program runs over on inputs of these shapes. Throws InvalidArgumentError.
Shape space_of(const FusedProgram& program, std::span<const Shape* const> inputs);
/// Of one output over that space.
Shape output_shape(const FusedProgram& program, size_t output, const Shape& space);

class TIDEMARK_API Builder {
 public:
  /// A new input; `level` row: it has size 1 in every reduced dimension.
  Value load(DType dtype, Level level = Level::element);
  /// A new input that holds the seed of stateless random numbers.
  uint16_t seed_input(DType dtype);
  Value constant(DType dtype, double value);
  Value map(const OpDef& op, std::span<const Value> args, std::array<double, 2> params = {});
  Value map(const OpDef& op, std::initializer_list<Value> args, std::array<double, 2> params = {}) {
    return map(op, std::span(args.begin(), args.size()), params);
  }
  Value select(Value condition, Value yes, Value no);
  Value cast(Value x, DType dtype);
  Value reduce(Reduction reduction, Value x);
  Value collect(Reduction reduction, Value x);
  /// `seed_input` kNoValue: stateful.
  Value random(Drawn drawn, DType dtype, double first, double second, uint16_t seed_input,
               bool has_seed = false, int64_t seed = 0);
  /// As random; the input is what random_stream gave.
  Value random_from_stream(Drawn drawn, DType dtype, double first, double second,
                           uint16_t stream_input);
  void output(Value value, bool drops_dims = false);
  void set_row_dims(int dims) { program_.row_dims = dims; }
  const Instruction& operator[](Value v) const { return program_.code[v]; }
  size_t size() const { return program_.code.size(); }

  /// Verified.
  FusedProgram finish();

 private:
  Value add(Instruction instruction);
  Value add_reduction(Code code, Level level, Reduction reduction, Value x);

  FusedProgram program_;
};

}  // namespace tidemark::fusion
