// Writes <tidemark/ops.h> and the functions behind it from the op registry: one C++ function each
// op.
//
//   tidemark_opgen ops.h ops.cpp
#include <tidemark/op.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>

namespace {

using namespace tidemark;

std::string cpp_name(const std::string& name) {
  static const char* const reserved[] = {"default", "bool", "int", "float",  "double", "and",
                                         "or",      "not",  "xor", "switch", "case",   "while"};
  const bool taken =
      std::find(std::begin(reserved), std::end(reserved), name) != std::end(reserved);
  return taken ? name + "_" : name;
}

std::string plain_type(AttrKind kind) {
  switch (kind) {
    case AttrKind::boolean:
      return "bool";
    case AttrKind::integer:
      return "int64_t";
    case AttrKind::real:
      return "double";
    case AttrKind::dtype:
      return "DType";
    case AttrKind::string:
      return "std::string";
    case AttrKind::ints:
      return "Ints";
  }
  return "";
}

std::string type_of(const Param& p) {
  if (p.kind == Param::Kind::input) return "const Tensor&";
  if (p.kind == Param::Kind::input_list) return "std::span<const Tensor>";
  const std::string plain = plain_type(p.attr_kind);
  return p.optional ? "std::optional<" + plain + ">" : plain;
}

std::string literal(const Param& p) {
  if (p.fallback.is_none()) return "std::nullopt";
  std::ostringstream out;
  switch (p.attr_kind) {
    case AttrKind::boolean:
      out << (p.fallback.as_bool() ? "true" : "false");
      break;
    case AttrKind::integer:
      out << p.fallback.as_int();
      break;
    case AttrKind::real:
      out << p.fallback.as_real();
      break;
    case AttrKind::dtype: {
      const std::string name(name_of(p.fallback.as_dtype()));
      out << "DType::" << (name == "bool" ? "bool_" : name);
      break;
    }
    case AttrKind::string:
      out << '"' << p.fallback.as_string() << '"';
      break;
    case AttrKind::ints: {
      out << "Ints{";
      for (size_t i = 0; i < p.fallback.as_ints().size(); ++i) {
        out << (i ? ", " : "") << p.fallback.as_ints()[i];
      }
      out << "}";
      break;
    }
  }
  return out.str();
}

bool has_default(const Param& p) { return p.kind == Param::Kind::attr && !p.required; }

std::string parameters(const OpDef& op, bool with_defaults) {
  // C++ allows defaults only at the end.
  size_t first_default = op.params().size();
  while (first_default > 0 && has_default(op.params()[first_default - 1])) --first_default;
  std::string out;
  for (size_t i = 0; i < op.params().size(); ++i) {
    const Param& p = op.params()[i];
    if (i > 0) out += ", ";
    out += type_of(p) + " " + cpp_name(p.name);
    if (with_defaults && i >= first_default) out += " = " + literal(p);
  }
  return out;
}

bool has_one_output(const OpDef& op) { return op.outputs().size() == 1 && !op.has_output_list(); }

std::string signature(const OpDef& op, bool with_defaults) {
  return std::string(has_one_output(op) ? "Tensor " : "std::vector<Tensor> ") +
         cpp_name(op.name()) + "(" + parameters(op, with_defaults) + ")";
}

std::string gather_inputs(const OpDef& op) {
  if (op.inputs().empty()) return "  const std::span<const Tensor> op_inputs;\n";
  std::string names;
  for (int index : op.inputs()) {
    names += (names.empty() ? "" : ", ") + cpp_name(op.params()[static_cast<size_t>(index)].name);
  }
  if (!op.has_input_list()) {
    return "  const Borrowed<" + std::to_string(op.inputs().size()) + "> borrowed(" + names +
           ");\n  const std::span<const Tensor> op_inputs = borrowed.span();\n";
  }
  if (op.inputs().size() == 1)
    return "  const std::span<const Tensor> op_inputs = " + names + ";\n";
  std::string out = "  std::vector<Tensor> op_inputs;\n";
  for (int index : op.inputs()) {
    const Param& p = op.params()[static_cast<size_t>(index)];
    const std::string name = cpp_name(p.name);
    out += p.kind == Param::Kind::input_list
               ? "  op_inputs.insert(op_inputs.end(), " + name + ".begin(), " + name + ".end());\n"
               : "  op_inputs.push_back(" + name + ");\n";
  }
  return out;
}

std::string gather_attrs(const OpDef& op) {
  if (op.attrs().empty()) return "";
  std::string out = "  const Attr attrs[] = {";
  for (size_t i = 0; i < op.attrs().size(); ++i) {
    const Param& p = op.params()[static_cast<size_t>(op.attrs()[i])];
    out += std::string(i ? ", " : "") + "Attr(" + cpp_name(p.name) + ")";
  }
  return out + "};\n";
}

std::string definition(const OpDef& op) {
  return signature(op, false) +
         " {\n"
         "  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));\n"
         "  static const OpDef& op = OpRegistry::instance().get(\"" +
         op.name() + "\");\n" + gather_inputs(op) + gather_attrs(op) + "  return " +
         (has_one_output(op) ? "call" : "call_all") + "(op, op_inputs" +
         (op.attrs().empty() ? "" : ", attrs") + ");\n}\n\n";
}

std::string header_text(const std::vector<const OpDef*>& ops) {
  std::string out =
      "// One function each op, written from the op definitions at build time.\n"
      "//\n"
      "//   tm::Tensor y = tm::matmul(a, b);\n"
      "//   tm::Tensor s = tm::sum(y, tm::Ints{0});\n"
      "#pragma once\n\n#include <tidemark/op.h>\n\nnamespace tidemark {\n\n";
  for (const OpDef* op : ops) {
    std::istringstream lines(op->doc());
    for (std::string line; std::getline(lines, line);) out += "/// " + line + "\n";
    out += "TIDEMARK_API " + signature(*op, true) + ";\n";
  }
  return out + "\n}  // namespace tidemark\n";
}

std::string source_text(const std::vector<const OpDef*>& ops) {
  std::string out =
      "// Written from the op definitions at build time.\n"
      "#include <tidemark/call.h>\n#include <tidemark/ops.h>\n\n"
      "#include \"tidemark/memory/context.h\"\n\nnamespace tidemark {\n\n";
  for (const OpDef* op : ops) out += definition(*op);
  return out + "}  // namespace tidemark\n";
}

void write(const char* path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw std::runtime_error(std::string("cannot write ") + path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: tidemark_opgen HEADER SOURCE\n";
    return 2;
  }
  std::vector<const OpDef*> ops = OpRegistry::instance().all();
  std::sort(ops.begin(), ops.end(),
            [](const OpDef* a, const OpDef* b) { return a->name() < b->name(); });
  write(argv[1], header_text(ops));
  write(argv[2], source_text(ops));
  return 0;
}
