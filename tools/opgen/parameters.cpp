#include "parameters.h"

#include <algorithm>
#include <sstream>

namespace opgen {

using namespace tidemark;

namespace {

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

bool has_default(const Param& p) { return p.kind == Param::Kind::attr && !p.required; }

}  // namespace

std::string cpp_name(const std::string& name) {
  static const char* const reserved[] = {"default", "bool", "int", "float",  "double", "and",
                                         "or",      "not",  "xor", "switch", "case",   "while"};
  const bool taken =
      std::find(std::begin(reserved), std::end(reserved), name) != std::end(reserved);
  return taken ? name + "_" : name;
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

size_t first_default(const OpDef& op) {
  size_t first = op.params().size();
  while (first > 0 && has_default(op.params()[first - 1])) --first;
  return first;
}

std::string parameters(const OpDef& op, bool with_defaults, size_t end) {
  std::string out;
  for (size_t i = 0; i < end; ++i) {
    const Param& p = op.params()[i];
    if (i > 0) out += ", ";
    out += type_of(p) + " " + cpp_name(p.name);
    if (with_defaults && i >= first_default(op)) out += " = " + literal(p);
  }
  return out;
}

bool has_one_output(const OpDef& op) { return op.outputs().size() == 1 && !op.has_output_list(); }

std::string result_type(const OpDef& op) {
  return has_one_output(op) ? "Tensor" : "std::vector<Tensor>";
}

}  // namespace opgen
