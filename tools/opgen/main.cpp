// Writes <tidemark/ops.h> and the functions behind it from the op registry: for each op the
// functions that forms.h tells of.
//
//   tidemark_opgen ops.h ops.cpp
#include <tidemark/op.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>

#include "forms.h"
#include "parameters.h"

namespace {

using namespace opgen;
using tidemark::OpDef;
using tidemark::Param;

constexpr const char* kHere =
    "  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));\n";

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

/// The body of the function that the others of the op call.
std::string call_body(const OpDef& op) {
  return std::string(" {\n") + kHere + "  static const OpDef& op = OpRegistry::instance().get(\"" +
         op.name() + "\");\n" + gather_inputs(op) + gather_attrs(op) + "  return " +
         (has_one_output(op) ? "call" : "call_all") + "(op, op_inputs" +
         (op.attrs().empty() ? "" : ", attrs") + ");\n}\n\n";
}

/// The body of one with another name or with options.
std::string forward_body(const OpDef& op, bool with_options) {
  std::string arguments;
  for (size_t i = 0; i < op.params().size(); ++i) {
    const std::string name = cpp_name(op.params()[i].name);
    const bool in_options = with_options && i >= first_default(op);
    arguments += (i ? ", " : "") + (in_options ? "options." + name : "std::move(" + name + ")");
  }
  return std::string(" {\n") + kHere + "  return tidemark::" + cpp_name(op.name()) + "(" +
         arguments + ");\n}\n\n";
}

std::string signature(const OpDef& op, const std::string& name, bool with_defaults) {
  return result_type(op) + " " + name + "(" + parameters(op, with_defaults, op.params().size()) +
         ")";
}

/// What stands before the function that takes its parameters one after the other. Compilers differ
/// in whether {.axis = …} could also be the vector `axis`; where both could be meant, a function is
/// preferred to a template: so this one is a template where the op has options.
std::string template_head(const OpDef& op, bool with_default) {
  if (options_type(op).empty()) return "";
  return with_default ? "template <class = void>\n" : "template <class>\n";
}

std::string options_signature(const OpDef& op, const std::string& name) {
  const std::string before = parameters(op, false, first_default(op));
  return result_type(op) + " " + name + "(" + before + (before.empty() ? "" : ", ") + "const " +
         options_type(op) + "& options)";
}

/// "text" inside the namespace of the name.
std::string in_space(const Name& name, const std::string& text) {
  if (name.space.empty()) return text;
  return "namespace " + name.space + " {\n" + text + "}\n";
}

std::string documentation(const OpDef& op) {
  std::string out;
  std::istringstream lines(op.doc());
  for (std::string line; std::getline(lines, line);) out += "/// " + line + "\n";
  return out;
}

std::string declarations(const OpDef& op) {
  const bool has_options = !options_type(op).empty();
  std::string out = has_options ? options_definition(op) : "";
  for (const Name& name : names_of(op)) {
    if (name.declared_in != name.space) {
      const std::string from = name.declared_in.empty() ? "" : name.declared_in + "::";
      out += in_space(name, "using tidemark::" + from + name.name + ";\n");
      continue;
    }
    std::string text = documentation(op) + template_head(op, true) + "TIDEMARK_API " +
                       signature(op, name.name, true) + ";\n";
    if (has_options) text += "TIDEMARK_API " + options_signature(op, name.name) + ";\n";
    out += in_space(name, text);
  }
  return out;
}

std::string definitions(const OpDef& op) {
  std::string out;
  bool is_own_name = true;
  for (const Name& name : names_of(op)) {
    if (name.declared_in != name.space) continue;
    std::string text = template_head(op, false) + signature(op, name.name, false) +
                       (is_own_name ? call_body(op) : forward_body(op, false));
    if (!options_type(op).empty()) {
      text += "template TIDEMARK_API " + signature(op, name.name + "<void>", false) + ";\n" +
              options_signature(op, name.name) + forward_body(op, true);
    }
    out += in_space(name, text);
    is_own_name = false;
  }
  return out;
}

std::string header_text(const std::vector<const OpDef*>& ops) {
  std::string out =
      "// One function each op, written from the op definitions at build time, under its own name\n"
      "// and under TensorFlow's. What has a default may be given by name, in this order.\n"
      "//\n"
      "//   td::Tensor y = td::matmul(a, b);\n"
      "//   td::Tensor s = td::reduce_sum(y, td::Ints{0});\n"
      "//   td::Tensor t = td::reduce_sum(y, {.axis = td::Ints{0}, .keepdims = true});\n"
      "#pragma once\n\n#include <tidemark/op.h>\n\nnamespace tidemark {\n\n";
  for (const OpDef* op : ops) out += declarations(*op);
  return out + "\n}  // namespace tidemark\n";
}

std::string source_text(const std::vector<const OpDef*>& ops) {
  std::string out =
      "// Written from the op definitions at build time.\n"
      "#include <tidemark/call.h>\n#include <tidemark/ops.h>\n\n"
      "#include \"tidemark/memory/context.h\"\n\nnamespace tidemark {\n\n";
  for (const OpDef* op : ops) out += definitions(*op);
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
  std::vector<const OpDef*> ops = tidemark::OpRegistry::instance().all();
  std::sort(ops.begin(), ops.end(),
            [](const OpDef* a, const OpDef* b) { return a->name() < b->name(); });
  write(argv[1], header_text(ops));
  write(argv[2], source_text(ops));
  return 0;
}
