#include "forms.h"

#include "parameters.h"

#include <algorithm>
#include <cctype>

namespace opgen {

using namespace tidemark;

namespace {

/// "tf.math.reduce_mean": the namespace "math" and the name.
Name parts_of(const std::string& python) {
  const size_t first = python.find('.') + 1, last = python.rfind('.') + 1;
  std::string space = last > first ? python.substr(first, last - 1 - first) : "";
  for (size_t dot; (dot = space.find('.')) != std::string::npos;) space.replace(dot, 1, "::");
  return {space, cpp_name(python.substr(last)), space};
}

}  // namespace

std::vector<Name> names_of(const OpDef& op) {
  std::vector<Name> out = {{"", cpp_name(op.name()), ""}};
  std::vector<Name> wanted;
  for (const std::string_view python : op.python_names()) {
    wanted.push_back(parts_of(std::string(python)));
  }
  // Those outside of namespaces first: others refer to them.
  std::stable_sort(wanted.begin(), wanted.end(), [](const Name& a, const Name& b) {
    return a.space.empty() && !b.space.empty();
  });
  for (Name& name : wanted) {
    const auto same = std::find_if(out.begin(), out.end(), [&](const Name& other) {
      return other.name == name.name && other.declared_in == other.space;
    });
    if (same != out.end()) {
      if (same->space == name.space) continue;
      name.declared_in = same->space;
    }
    out.push_back(name);
  }
  return out;
}

std::string options_type(const OpDef& op) {
  if (first_default(op) == op.params().size()) return "";
  std::string out;
  bool starts_word = true;
  for (const char c : op.name()) {
    if (c != '_') out += starts_word ? char(std::toupper(static_cast<unsigned char>(c))) : c;
    starts_word = c == '_';
  }
  return out + "Options";
}

std::string options_definition(const OpDef& op) {
  std::string out = "struct " + options_type(op) + " {\n";
  for (size_t i = first_default(op); i < op.params().size(); ++i) {
    const Param& p = op.params()[i];
    out += "  " + type_of(p) + " " + cpp_name(p.name) + " = " + literal(p) + ";\n";
  }
  return out + "};\n";
}

}  // namespace opgen
