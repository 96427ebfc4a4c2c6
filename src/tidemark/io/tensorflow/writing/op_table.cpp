#include "tidemark/io/tensorflow/writing/op_table.h"

#include <algorithm>

namespace tidemark::io::tensorflow {

extern const char* const op_forms;  // op_defs.tsv, embedded by the build

namespace {

/// The part before the mark, which is taken off together with it; all of it where there is none.
std::string_view take(std::string_view& from, char mark) {
  const size_t end = std::min(from.find(mark), from.size());
  const std::string_view part = from.substr(0, end);
  from.remove_prefix(std::min(end + 1, from.size()));
  return part;
}

OpArgument argument(std::string_view text) {
  OpArgument out;
  out.name = take(text, ':');
  out.is_list = text.starts_with('[');
  if (out.is_list) text = text.substr(1, text.size() - 2);
  if (text.find('*') != std::string_view::npos) out.number = take(text, '*');
  out.kind = text;
  return out;
}

OpAttribute attribute(std::string_view text) {
  OpAttribute out;
  out.name = take(text, ':');
  const bool has_fallback = text.find('=') != std::string_view::npos;
  out.kind = take(text, '=');
  if (has_fallback) out.fallback = text;
  return out;
}

template <class Read>
auto each_of(std::string_view text, Read read) {
  std::vector<decltype(read(text))> out;
  while (!text.empty()) out.push_back(read(take(text, ' ')));
  return out;
}

}  // namespace

std::string_view op_forms_text() { return op_forms; }

const OpAttribute* OpForm::find(std::string_view attr) const {
  const auto found = std::find_if(attrs.begin(), attrs.end(),
                                  [&](const OpAttribute& one) { return one.name == attr; });
  return found == attrs.end() ? nullptr : &*found;
}

const OpForm* OpTable::find(std::string_view op) {
  if (const auto known = known_.find(op); known != known_.end()) return &known->second;
  const std::string_view text = op_forms_text();
  const std::string start = std::string(op) + '\t';
  size_t at = text.starts_with(start) ? 0 : text.find('\n' + start);
  if (at == std::string_view::npos || op.empty()) return nullptr;
  at += text[at] == '\n';
  std::string_view line = text.substr(at, text.find('\n', at) - at);
  OpForm form;
  form.name = take(line, '\t');
  form.inputs = each_of(take(line, '\t'), argument);
  form.outputs = each_of(take(line, '\t'), argument);
  form.attrs = each_of(take(line, '\t'), attribute);
  return &known_.emplace(form.name, std::move(form)).first->second;
}

}  // namespace tidemark::io::tensorflow
