#include "tidemark/kernels/cuda/emit.h"

#include <algorithm>
#include <bit>

#include "tidemark/kernels/cuda/ops_table.h"

namespace tidemark::cuda {

namespace {

using fusion::Code;
using fusion::FusedProgram;
using fusion::Instruction;
using fusion::Level;
using fusion::Reduction;
using fusion::Value;

const char* reduction_type(Reduction reduction) {
  constexpr const char* kNames[] = {"tm::Sum", "tm::Mean", "tm::Max", "tm::Min"};
  return kNames[static_cast<int>(reduction)];
}

/// The numbers that instructions bring along: one of a constant, two of an op.
int numbers_of(const Instruction& i) {
  return i.code == Code::constant ? 1 : i.code == Code::map ? 2 : 0;
}

class Emitter {
 public:
  Emitter(const FusedProgram& program, const Walk& walk) : p_(program), walk_(walk) {
    for (const Instruction& i : p_.code) {
      first_number_.push_back(numbers_);
      numbers_ += numbers_of(i);
    }
    for (const Instruction& i : p_.code) depth_.push_back(depth_of(i));
  }

  std::string run(const std::string& name) {
    if (has_complex_ops()) text_ = "#include \"complex.h\"\n";
    text_ += message("struct ", name, "_arguments {\n");
    declare("const void* in", p_.inputs.size());
    declare("void* out", p_.outputs.size());
    declare("double numbers", static_cast<size_t>(numbers_));
    text_ += "  tm::int64 count, rows, row;\n";
    declare("tm::int64 sizes", walk_.sizes.size());
    for (size_t i = 0; i < p_.inputs.size(); ++i) {
      if (walk_.access[i] == Access::strided) {
        declare(message("tm::int64 strides", i), walk_.sizes.size());
      }
    }
    text_ +=
        message("};\nextern \"C\" __global__ void ", name, "(const ", name, "_arguments a) {\n");
    emit_constants();
    if (p_.runs_by_row()) {
      emit_rows();
    } else {
      emit_elements();
    }
    return text_ + "}\n";
  }

 private:
  void declare(const std::string& what, size_t count) {
    if (count > 0) text_ += message("  ", what, "[", count, "];\n");
  }
  void line(const std::string& text) { text_ += std::string(indent_, ' ') + text + "\n"; }
  static std::string value(Value v) { return message("v", v); }

  /// Reductions that have to be done before: 0 for what depends on none.
  int depth_of(const Instruction& i) const {
    int depth = 0;
    for (int a = 0; a < i.arity; ++a) {
      depth = std::max(depth, depth_[i.args[static_cast<size_t>(a)]]);
    }
    return depth + (i.code == Code::reduce);
  }
  bool has_complex_ops() const {
    return std::any_of(p_.code.begin(), p_.code.end(), [&](const Instruction& i) {
      return i.code == Code::map && has_complex_op(i.op->name(), p_.code[i.args[0]].dtype);
    });
  }
  bool is_of_rows(Value v) const { return p_.code[v].level == Level::row; }

  void emit_elements() {
    const std::string each = std::to_string(elements_of_thread(p_, walk_));
    line(message("const tm::int64 step = static_cast<tm::int64>(gridDim.x) * blockDim.x * ", each,
                 ";"));
    line(
        message("for (tm::int64 first = (blockIdx.x * static_cast<tm::int64>(blockDim.x) + "
                "threadIdx.x) * ",
                each, "; first < a.count; first += step) {"));
    indent_ += 2;
    for (size_t i = 0; i < p_.inputs.size(); ++i) {
      if (walk_.access[i] != Access::dense) continue;
      const std::string type = stored_type(p_.inputs[i]);
      line(message("const tm::Pack<", type, ", ", each, "> in", i, " = tm::load_pack<", type, ", ",
                   each, ">(a.in[", i, "], first, a.count, ", type, "());"));
    }
    for (size_t o = 0; o < p_.outputs.size(); ++o) {
      line(message("tm::Pack<", stored_type(p_.output_dtype(o)), ", ", each, "> out", o, ";"));
    }
    text_ += "#pragma unroll\n";
    line(message("for (int k = 0; k < ", each, "; ++k) {"));
    indent_ += 2;
    line("const tm::int64 i = first + k;");
    line("if (i >= a.count) continue;");
    is_packed_ = true;
    emit_values(std::vector<bool>(p_.code.size(), true), "i");
    for (size_t o = 0; o < p_.outputs.size(); ++o) {
      line(message("tm::store(out", o, ".of, k, ", value(p_.outputs[o].value), ", ",
                   stored_type(p_.output_dtype(o)), "());"));
    }
    indent_ -= 2;
    line("}");
    for (size_t o = 0; o < p_.outputs.size(); ++o) {
      line(message("tm::store_pack(a.out[", o, "], first, a.count, out", o, ");"));
    }
    indent_ -= 2;
    line("}");
  }

  void emit_rows() {
    line(message("__shared__ double lanes[", kThreads, "];"));
    line("for (tm::int64 r = blockIdx.x; r < a.rows; r += gridDim.x) {");
    indent_ += 2;
    const int last = *std::max_element(depth_.begin(), depth_.end());
    for (int depth = 0; depth <= last; ++depth) {
      if (depth > 0) reduce(depth);
      std::vector<bool> is_needed(p_.code.size());
      for (Value v = 0; v < p_.code.size(); ++v) {
        is_needed[v] = is_of_rows(v) && p_.code[v].code != Code::reduce && depth_[v] == depth;
      }
      emit_values(is_needed, "r * a.row");
    }
    std::vector<bool> stored(p_.code.size());
    for (const fusion::Output& o : p_.outputs) stored[o.value] = !is_of_rows(o.value);
    if (std::find(stored.begin(), stored.end(), true) != stored.end()) {
      pass(stored, [&] {
        for (size_t o = 0; o < p_.outputs.size(); ++o) {
          if (!is_of_rows(p_.outputs[o].value)) store(o, "i");
        }
      });
    }
    line("if (threadIdx.x == 0) {");
    indent_ += 2;
    for (size_t o = 0; o < p_.outputs.size(); ++o) {
      if (is_of_rows(p_.outputs[o].value)) store(o, "r");
    }
    indent_ -= 2;
    line("}");
    indent_ -= 2;
    line("}");
  }

  /// All reductions of one depth, in one pass over the row.
  void reduce(int depth) {
    std::vector<bool> taken_in(p_.code.size());
    std::vector<Value> reductions;
    for (Value v = 0; v < p_.code.size(); ++v) {
      const Instruction& i = p_.code[v];
      if (i.code != Code::reduce || depth_[v] != depth) continue;
      reductions.push_back(v);
      taken_in[i.args[0]] = true;
    }
    for (const Value v : reductions) {
      line(message("typedef ", reduction_type(p_.code[v].reduction), "<",
                   computed_type(p_.code[v].dtype), "> R", v, ";"));
      line(message("R", v, "::Acc s", v, " = R", v, "::start();"));
    }
    pass(taken_in, [&] {
      for (const Value v : reductions) {
        line(message("s", v, " = R", v, "::join(s", v, ", ", value(p_.code[v].args[0]), ");"));
      }
    });
    for (const Value v : reductions) {
      const Instruction& i = p_.code[v];
      define(v,
             rounded(i, message("R", v, "::finish(tm::joined<R", v, ">(s", v, ", lanes), a.row)")));
    }
  }

  /// Over the elements of a row; what `wanted` depends on is computed, unless it is of rows.
  template <class Body>
  void pass(std::vector<bool> wanted, Body body) {
    line("for (tm::int64 c = threadIdx.x; c < a.row; c += blockDim.x) {");
    indent_ += 2;
    line("const tm::int64 i = r * a.row + c;");
    for (Value v = static_cast<Value>(p_.code.size()); v-- > 0;) {
      if (!wanted[v] || is_of_rows(v)) continue;
      const Instruction& i = p_.code[v];
      for (int k = 0; k < i.arity; ++k) wanted[i.args[static_cast<size_t>(k)]] = true;
    }
    for (Value v = 0; v < p_.code.size(); ++v) wanted[v] = wanted[v] && !is_of_rows(v);
    emit_values(wanted, "i");
    body();
    indent_ -= 2;
    line("}");
  }

  /// Before all else: they are of no level, and whoever reads one may.
  void emit_constants() {
    for (Value v = 0; v < p_.code.size(); ++v) {
      if (p_.code[v].code == Code::constant) define(v, expression(v, ""));
    }
  }

  /// The values at an index of the space, in order.
  void emit_values(const std::vector<bool>& is_needed, const char* index) {
    emit_offsets(is_needed, index);
    for (Value v = 0; v < p_.code.size(); ++v) {
      if (is_needed[v] && p_.code[v].code != Code::constant) define(v, expression(v, index));
    }
  }

  /// Where inputs lie that are neither dense nor one number.
  void emit_offsets(const std::vector<bool>& is_needed, const char* index) {
    std::vector<bool> is_read(p_.inputs.size());
    for (Value v = 0; v < p_.code.size(); ++v) {
      const Instruction& i = p_.code[v];
      if (!is_needed[v] || i.code != Code::load) continue;
      is_read[i.input] = walk_.access[i.input] == Access::strided;
    }
    if (std::find(is_read.begin(), is_read.end(), true) == is_read.end()) return;
    // Of elements and of rows there may be both in one block.
    const char* name = *index == 'i' ? "o" : "q";
    const std::string rest = message(name, "_rest");
    const char* place = walk_.is_small ? "tm::uint32" : "tm::int64";
    line(message(place, " ", rest, " = static_cast<", place, ">(", index, ");"));
    for (size_t d = walk_.sizes.size(); d-- > 0;) {
      std::string at = rest;
      if (d > 0) {
        at = message(name, "_", d);
        const std::string size = message("static_cast<", place, ">(a.sizes[", d, "])");
        line(message("const ", place, " ", at, " = ", rest, " % ", size, ";"));
        line(message(rest, " /= ", size, ";"));
      }
      for (size_t i = 0; i < is_read.size(); ++i) {
        if (!is_read[i]) continue;
        const bool is_first = d + 1 == walk_.sizes.size();
        line(message(is_first ? "tm::int64 " : "", name, "_in", i, is_first ? " = " : " += ", at,
                     " * a.strides", i, "[", d, "];"));
      }
    }
  }

  void define(Value v, const std::string& text) {
    line(message("const ", computed_type(p_.code[v].dtype), " ", value(v), " = ", text, ";"));
  }

  static std::string rounded(const Instruction& i, const std::string& text) {
    if (!fusion::is_half(i.dtype)) return text;
    return message("tm::rounded<", stored_type(i.dtype), ">(", text, ")");
  }

  std::string expression(Value v, const char* index) const {
    const Instruction& i = p_.code[v];
    std::string args;
    for (int a = 0; a < i.arity; ++a) {
      args += value(i.args[static_cast<size_t>(a)]) + (i.code == Code::map ? ", " : "");
    }
    switch (i.code) {
      case Code::load:
        if (is_packed_ && walk_.access[i.input] == Access::dense) {
          return message("tm::load(in", i.input, ".of, k, ", stored_type(i.dtype), "())");
        }
        return message("tm::load(a.in[", i.input, "], ", place(i.input, index), ", ",
                       stored_type(i.dtype), "())");
      case Code::constant:
        return rounded(i, message("static_cast<", computed_type(i.dtype), ">(a.numbers[",
                                  first_number_[v], "])"));
      case Code::map:
        return rounded(
            i, message("tm::op_", i.op->name(), "(", args, "a.numbers + ", first_number_[v], ")"));
      case Code::select:
        return message(value(i.args[0]), " ? ", value(i.args[1]), " : ", value(i.args[2]));
      case Code::cast:
        return rounded(i, message("tm::convert<", computed_type(i.dtype), ">(", args, ")"));
      default:
        fail<InternalError>("no kernel has such an instruction: ", fusion::to_string(p_));
    }
  }

  std::string place(uint16_t input, const char* index) const {
    if (walk_.access[input] == Access::dense) return index;
    if (walk_.access[input] == Access::single) return "0";
    return message(*index == 'i' ? "o" : "q", "_in", input);
  }

  void store(size_t output, const char* index) {
    const Value v = p_.outputs[output].value;
    line(message("tm::store(a.out[", output, "], ", index, ", ", value(v), ", ",
                 stored_type(p_.code[v].dtype), "());"));
  }

  const FusedProgram& p_;
  const Walk& walk_;
  std::vector<int> first_number_, depth_;
  int numbers_ = 0;
  int indent_ = 2;
  bool is_packed_ = false;  // dense inputs are there, as `in0`, …
  std::string text_;
};

}  // namespace

const char* stored_type(DType dtype) {
  switch (dtype) {
    case DType::bool_:
      return "bool";
    case DType::int8:
      return "tm::int8";
    case DType::uint8:
      return "tm::uint8";
    case DType::int16:
      return "tm::int16";
    case DType::uint16:
      return "tm::uint16";
    case DType::int32:
      return "tm::int32";
    case DType::uint32:
      return "tm::uint32";
    case DType::int64:
      return "tm::int64";
    case DType::uint64:
      return "tm::uint64";
    case DType::float16:
      return "tm::Half";
    case DType::bfloat16:
      return "tm::BFloat16";
    case DType::float32:
      return "float";
    case DType::float64:
      return "double";
    case DType::complex64:  // of single ops that convert or choose
      return "tm::Complex<float>";
    case DType::complex128:
      return "tm::Complex<double>";
    default:
      fail<InternalError>("no kernel has elements of ", name_of(dtype));
  }
}

const char* computed_type(DType dtype) { return stored_type(fusion::computed_in(dtype)); }

bool can_emit(const FusedProgram& program) {
  return std::all_of(program.code.begin(), program.code.end(), [&](const Instruction& i) {
    if (i.code == Code::random || i.code == Code::collect) return false;
    if (i.code == Code::reduce && i.reduction == Reduction::mean) return is_floating(i.dtype);
    return i.code != Code::map || find_element_op(i.op->name(), program.code[i.args[0]].dtype);
  });
}

int elements_of_thread(const FusedProgram& program, const Walk& walk) {
  constexpr size_t kAccess = 16, kMost = 8;  // bytes of the widest access; elements
  size_t largest = 1;
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    if (walk.access[i] == Access::dense) largest = std::max(largest, size_of(program.inputs[i]));
  }
  for (size_t o = 0; o < program.outputs.size(); ++o) {
    largest = std::max(largest, size_of(program.output_dtype(o)));
  }
  return static_cast<int>(std::min(kAccess / largest, kMost));
}

std::string emit_kernel(const FusedProgram& program, const Walk& walk, const std::string& name) {
  return Emitter(program, walk).run(name);
}

std::vector<uint64_t> kernel_arguments(const FusedProgram& program, const Walk& walk,
                                       std::span<const void* const> inputs,
                                       std::span<void* const> outputs) {
  std::vector<uint64_t> words;
  for (const void* input : inputs) words.push_back(reinterpret_cast<uint64_t>(input));
  for (void* output : outputs) words.push_back(reinterpret_cast<uint64_t>(output));
  for (const Instruction& i : program.code) {
    for (int n = 0; n < numbers_of(i); ++n) {
      words.push_back(std::bit_cast<uint64_t>(i.params[static_cast<size_t>(n)]));
    }
  }
  words.push_back(static_cast<uint64_t>(walk.count));
  words.push_back(static_cast<uint64_t>(walk.rows));
  words.push_back(static_cast<uint64_t>(walk.row));
  const auto add = [&](const std::vector<int64_t>& numbers) {
    for (const int64_t n : numbers) words.push_back(static_cast<uint64_t>(n));
  };
  add(walk.sizes);
  for (const auto& strides : walk.strides) add(strides);
  return words;
}

}  // namespace tidemark::cuda
