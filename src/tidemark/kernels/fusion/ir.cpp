#include "tidemark/kernels/fusion/ir.h"

#include <algorithm>
#include <functional>

namespace tidemark::fusion {

namespace {

template <class... Pieces>
[[noreturn]] void broken(const Pieces&... pieces) {
  fail<InternalError>("a fused program is broken: ", pieces...);
}

constexpr DTypeSet kFusable = kFloats | kInts | kBool;

class Verifier {
 public:
  explicit Verifier(const FusedProgram& program) : p_(program) {}

  void run() {
    if (p_.inputs.size() > kMaxInputs) broken(p_.inputs.size(), " inputs");
    if (p_.outputs.empty() || p_.outputs.size() > kMaxOutputs) {
      broken(p_.outputs.size(), " outputs");
    }
    if (p_.code.size() > kMaxInstructions) broken(p_.code.size(), " instructions");
    for (size_t i = 0; i < p_.code.size(); ++i) check(static_cast<Value>(i));
    for (const Output& output : p_.outputs) {
      if (output.value >= p_.code.size()) broken("output %", output.value, " is not there");
      if (output.drops_dims && p_.code[output.value].level == Level::element) {
        broken("output %", output.value, " has no reduced dimensions to leave out");
      }
    }
  }

 private:
  void check(Value v) {
    const Instruction& i = p_.code[v];
    if (!kFusable.contains(i.dtype)) broken("%", v, " is ", name_of(i.dtype));
    Level deepest = Level::row;
    for (int a = 0; a < i.arity; ++a) {
      const Value arg = i.args[static_cast<size_t>(a)];
      if (arg >= v) broken("%", v, " uses %", arg, " before it is there");
      if (p_.code[arg].level == Level::column) broken("%", v, " uses what is there at the end");
      if (p_.code[arg].level == Level::element && p_.code[arg].code != Code::constant) {
        deepest = Level::element;
      }
    }
    if (i.level != Level::element && !p_.has_rows()) {
      broken("%", v, " is of rows; there are none");
    }
    if ((i.level == Level::column) != (i.code == Code::collect)) broken("%", v, " is a column");
    const bool computed = i.code == Code::map || i.code == Code::select || i.code == Code::cast;
    if (computed && i.level == Level::row && deepest == Level::element) {
      broken("%", v, " is one a row, of elements");
    }
    switch (i.code) {
      case Code::load:
        return check_load(v, i);
      case Code::map:
        return check_map(v, i);
      case Code::select:
        if (i.arity != 3 || dtype(i, 0) != DType::bool_ || dtype(i, 1) != i.dtype ||
            dtype(i, 2) != i.dtype) {
          broken("%", v, " chooses among what it cannot");
        }
        return;
      case Code::reduce:
        if (i.arity != 1 || i.level != Level::row || dtype(i, 0) != i.dtype ||
            i.dtype == DType::bool_) {
          broken("%", v, " reduces what it cannot");
        }
        return;
      case Code::collect:
        if (i.arity != 1 || dtype(i, 0) != i.dtype || i.dtype == DType::bool_ ||
            p_.row_dims == FusedProgram::kAllDims ||
            (i.reduction == Reduction::mean && !is_floating(i.dtype))) {
          broken("%", v, " collects what it cannot");
        }
        return;
      case Code::random:
        if (i.dtype != DType::float32) broken("%", v, " draws ", name_of(i.dtype));
        if (i.input != kNoValue && i.input >= p_.inputs.size()) broken("%", v, " has no seed");
        if (i.is_stream && (i.input == kNoValue || p_.inputs[i.input] != DType::uint64)) {
          broken("%", v, " has no stream");
        }
        return;
      case Code::cast:
        if (i.arity != 1) broken("%", v, " converts ", int{i.arity}, " values");
        return;
      case Code::constant:
        return;
    }
  }

  void check_load(Value v, const Instruction& i) {
    if (i.input >= p_.inputs.size()) broken("%", v, " reads input ", i.input);
    if (p_.inputs[i.input] != i.dtype) broken("%", v, " reads an input of another dtype");
  }

  void check_map(Value v, const Instruction& i) {
    if (!i.op || i.arity == 0) broken("%", v, " names no op");
    const DType in = dtype(i, 0);
    for (int a = 1; a < i.arity; ++a) {
      if (dtype(i, a) != in) broken("%", v, " mixes dtypes");
    }
    if (i.op->inputs().size() != i.arity || result_of(*i.op, in) != i.dtype) {
      broken("%", v, ": ", i.op->name(), " is not like this");
    }
  }

  DType dtype(const Instruction& i, int arg) const {
    return p_.code[i.args[static_cast<size_t>(arg)]].dtype;
  }

  const FusedProgram& p_;
};

void mix(size_t& seed, size_t value) {
  seed ^= value + 0x9e3779b97f4a7c15u + (seed << 6) + (seed >> 2);
}

const char* name_of_reduction(Reduction r) {
  constexpr const char* kNames[] = {"sum", "mean", "max", "min"};
  return kNames[static_cast<int>(r)];
}
const char* name_of_drawn(Drawn d) {
  constexpr const char* kNames[] = {"normal", "truncated_normal", "uniform"};
  return kNames[static_cast<int>(d)];
}

std::string describe(const Instruction& i) {
  std::string args;
  for (int a = 0; a < i.arity; ++a) {
    args += message(a ? ", %" : "%", i.args[static_cast<size_t>(a)]);
  }
  switch (i.code) {
    case Code::load:
      return message("load(input ", i.input, ")");
    case Code::constant:
      return message("constant(", i.params[0], ")");
    case Code::map:
      if (i.params[0] == 0 && i.params[1] == 0) return message(i.op->name(), "(", args, ")");
      return message(i.op->name(), "(", args, "; ", i.params[0], ", ", i.params[1], ")");
    case Code::select:
      return message("select(", args, ")");
    case Code::cast:
      return message("cast(", args, ")");
    case Code::reduce:
      return message("row_", name_of_reduction(i.reduction), "(", args, ")");
    case Code::collect:
      return message("column_", name_of_reduction(i.reduction), "(", args, ")");
    case Code::random:
      return message("random_", name_of_drawn(i.drawn), "(", i.params[0], ", ", i.params[1], ")");
  }
  return {};
}

}  // namespace

bool FusedProgram::has_random() const {
  return std::any_of(code.begin(), code.end(),
                     [](const Instruction& i) { return i.code == Code::random; });
}

bool FusedProgram::runs_by_row() const {
  return row_dims == kAllDims || std::any_of(code.begin(), code.end(), [](const Instruction& i) {
           return i.level == Level::row;
         });
}

bool FusedProgram::has_columns() const {
  return std::any_of(code.begin(), code.end(),
                     [](const Instruction& i) { return i.code == Code::collect; });
}

void verify(const FusedProgram& program) { Verifier(program).run(); }

size_t hash_of(const FusedProgram& program) {
  size_t seed = static_cast<size_t>(program.row_dims + 1);
  for (const DType d : program.inputs) mix(seed, static_cast<size_t>(d));
  for (const Instruction& i : program.code) {
    mix(seed, static_cast<size_t>(i.code) << 16 | static_cast<size_t>(i.dtype) << 8 |
                  static_cast<size_t>(i.level));
    mix(seed, i.op ? std::hash<std::string>()(i.op->name()) : i.input);
    for (const Value arg : i.args) mix(seed, arg);
    for (const double p : i.params) mix(seed, std::hash<double>()(p));
  }
  for (const Output& o : program.outputs) mix(seed, o.value);
  return seed;
}

size_t bytes_of(const FusedProgram& program) {
  return sizeof(FusedProgram) + program.inputs.size() * sizeof(DType) +
         program.code.size() * sizeof(Instruction) + program.outputs.size() * sizeof(Output);
}

std::string to_string(const FusedProgram& program) {
  std::string text;
  for (size_t v = 0; v < program.code.size(); ++v) {
    const Instruction& i = program.code[v];
    text += message("%", v, " = ", describe(i), " : ", name_of(i.dtype),
                    i.level == Level::row ? " a row" : "", "\n");
  }
  for (const Output& o : program.outputs) text += message("return %", o.value, "\n");
  return text;
}

std::string describe_ops(const FusedProgram& program) {
  std::string ops;
  for (const Instruction& i : program.code) {
    std::string what;
    if (i.code == Code::map) what = i.op->name();
    if (i.code == Code::cast) what = "cast";
    if (i.code == Code::select) what = "select";
    if (i.code == Code::random) what = "random";
    if (i.code == Code::reduce || i.code == Code::collect) what = name_of_reduction(i.reduction);
    if (what.empty()) continue;
    if (!ops.empty()) ops += ", ";
    ops += what;
  }
  return message("fused(", ops, ")");
}

DType result_of(const OpDef& op, DType in) {
  if (!op.is_elementwise() || op.outputs().size() != 1) return DType::invalid;
  const OutputType& type = op.outputs()[0].type;
  switch (type.kind) {
    case OutputType::Kind::fixed:
      return type.dtype;
    case OutputType::Kind::like_input:
    case OutputType::Kind::real_of_input:  // complex numbers are in no program
      return in;
    case OutputType::Kind::from_attr:
    case OutputType::Kind::rule:
      return DType::invalid;
  }
  return DType::invalid;
}

bool is_fusable(const OpDef& op, DType dtype) {
  if (!kFusable.contains(dtype) || !kFusable.contains(result_of(op, dtype))) return false;
  for (size_t i = 0; i < op.inputs().size(); ++i) {
    if (!op.input_param(static_cast<int>(i)).dtypes.contains(dtype)) return false;
  }
  // A group has no way to say which of its ops failed.
  return !op.may_fail(dtype);
}

Shape space_of(const FusedProgram& program, std::span<const Shape* const> inputs) {
  Shape space;
  for (const Instruction& i : program.code) {
    if (i.code != Code::load) continue;
    const Shape& shape = *inputs[i.input];
    if (shape == space) continue;
    space = space.rank() == 0 ? shape : broadcast_shapes(space, shape);
  }
  return space;
}

Shape output_shape(const FusedProgram& program, size_t output, const Shape& space) {
  const Level level = program.code[program.outputs[output].value].level;
  if (level == Level::element) return space;
  Shape shape = space;
  const int row = program.row_dims == FusedProgram::kAllDims ? space.rank() : program.row_dims;
  const int first = level == Level::row ? space.rank() - row : 0;
  const int last = level == Level::row ? space.rank() : space.rank() - row;
  for (int d = last - 1; d >= first; --d) {
    if (program.outputs[output].drops_dims) {
      shape.erase(d);
    } else {
      shape[d] = 1;
    }
  }
  return shape;
}

Value Builder::add(Instruction instruction) {
  program_.code.push_back(instruction);
  return static_cast<Value>(program_.code.size() - 1);
}

Value Builder::load(DType dtype, Level level) {
  Instruction i;
  i.code = Code::load;
  i.dtype = dtype;
  i.level = level;
  i.input = seed_input(dtype);
  return add(i);
}

uint16_t Builder::seed_input(DType dtype) {
  program_.inputs.push_back(dtype);
  return static_cast<uint16_t>(program_.inputs.size() - 1);
}

Value Builder::constant(DType dtype, double value) {
  Instruction i;
  i.code = Code::constant;
  i.dtype = dtype;
  i.params[0] = value;
  return add(i);
}

namespace {

/// A row's where all arguments are a row's or constants.
Level level_of(const FusedProgram& p, std::span<const Value> args) {
  Level level = Level::row;
  bool all_constant = true;
  for (const Value v : args) {
    if (p.code[v].code == Code::constant) continue;
    all_constant = false;
    if (p.code[v].level == Level::element) level = Level::element;
  }
  return all_constant ? Level::element : level;
}

}  // namespace

Value Builder::map(const OpDef& op, std::span<const Value> args, std::array<double, 2> params) {
  Instruction i;
  i.code = Code::map;
  i.op = &op;
  i.arity = static_cast<uint8_t>(args.size());
  if (args.empty() || args.size() > i.args.size())
    broken(op.name(), " of ", args.size(), " values");
  std::copy(args.begin(), args.end(), i.args.begin());
  i.params = params;
  i.level = level_of(program_, args);
  i.dtype = result_of(op, program_.code[args[0]].dtype);
  return add(i);
}

Value Builder::select(Value condition, Value yes, Value no) {
  Instruction i;
  i.code = Code::select;
  i.arity = 3;
  i.args = {condition, yes, no};
  i.level = level_of(program_, i.args);
  i.dtype = program_.code[yes].dtype;
  return add(i);
}

Value Builder::cast(Value x, DType dtype) {
  Instruction i;
  i.code = Code::cast;
  i.arity = 1;
  i.args[0] = x;
  i.level = level_of(program_, {&x, 1});
  i.dtype = dtype;
  return add(i);
}

Value Builder::add_reduction(Code code, Level level, Reduction reduction, Value x) {
  Instruction i;
  i.code = code;
  i.reduction = reduction;
  i.arity = 1;
  i.args[0] = x;
  i.level = level;
  i.dtype = program_.code[x].dtype;
  return add(i);
}

Value Builder::reduce(Reduction reduction, Value x) {
  return add_reduction(Code::reduce, Level::row, reduction, x);
}

Value Builder::collect(Reduction reduction, Value x) {
  return add_reduction(Code::collect, Level::column, reduction, x);
}

Value Builder::random(Drawn drawn, DType dtype, double first, double second, uint16_t seed_input,
                      bool has_seed, int64_t seed) {
  Instruction i;
  i.code = Code::random;
  i.drawn = drawn;
  i.dtype = dtype;
  i.params = {first, second};
  i.input = seed_input;
  i.has_seed = has_seed;
  i.seed = seed;
  return add(i);
}

Value Builder::random_from_stream(Drawn drawn, DType dtype, double first, double second,
                                  uint16_t stream_input) {
  const Value drawn_value = random(drawn, dtype, first, second, stream_input);
  program_.code[drawn_value].is_stream = true;
  return drawn_value;
}

void Builder::output(Value value, bool drops_dims) {
  program_.outputs.push_back({value, drops_dims});
}

FusedProgram Builder::finish() {
  verify(program_);
  return std::move(program_);
}

}  // namespace tidemark::fusion
