// Patterns and what they are replaced by, over a sink.
#pragma once

#include <memory>

#include "tidemark/base/text/regex.h"
#include "tidemark/ops/text/sink.h"

namespace tidemark::text {

/// A compiled pattern from a bounded cache; see Regex::compile.
std::shared_ptr<const Regex> cached_regex(std::string_view pattern);

/// Highest group a rewrite names, 0 for none.
inline int groups_named(std::string_view rewrite) {
  int highest = 0;
  for (size_t i = 0; i + 1 < rewrite.size(); ++i) {
    if (rewrite[i] != '\\') continue;
    const char next = rewrite[++i];
    if (next >= '0' && next <= '9') highest = std::max(highest, next - '0');
  }
  return highest;
}

inline bool names_groups(std::string_view rewrite) {
  return rewrite.find('\\') != std::string_view::npos;
}

/// Appends a rewrite, with the groups it names; stops at an escape that is none, as RE2 does.
template <class Sink>
void put_rewrite(std::string_view rewrite, const TidemarkSpan* spans, Sink& sink) {
  for (size_t i = 0; i < rewrite.size(); ++i) {
    if (rewrite[i] != '\\') {
      sink.append(rewrite[i]);
      continue;
    }
    if (++i == rewrite.size()) return;
    if (rewrite[i] == '\\') {
      sink.append('\\');
    } else if (rewrite[i] >= '0' && rewrite[i] <= '9') {
      const TidemarkSpan& span = spans[rewrite[i] - '0'];
      sink.append(std::string_view(span.begin, span.size));
    } else {
      return;
    }
  }
}

/// Bytes of the UTF-8 character that begins a text.
inline size_t first_character(std::string_view text) {
  size_t size = 1;
  while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) ++size;
  return size;
}

/// Appends `text` with the first match or all of them rewritten. An empty match right behind
/// another match does not count.
template <class Sink>
void put_replaced(const Regex& regex, std::string_view text, std::string_view rewrite, bool all,
                  Sink& sink) {
  const int spans_needed = groups_named(rewrite) + 1;
  if (spans_needed - 1 > regex.groups()) return sink.append(text);
  TidemarkSpan spans[Regex::kMaxSpans] = {};
  const char* last_end = nullptr;
  size_t at = 0;
  while (at <= text.size() && regex.match(text, at, spans, spans_needed)) {
    check_interrupt();
    const auto begin = static_cast<size_t>(spans[0].begin - text.data());
    sink.append(text.substr(at, begin - at));
    if (spans[0].size == 0 && spans[0].begin == last_end) {
      const size_t step = begin < text.size() ? first_character(text.substr(begin)) : 1;
      sink.append(text.substr(std::min(begin, text.size()), step));
      at = begin + step;
      continue;
    }
    put_rewrite(rewrite, spans, sink);
    at = begin + spans[0].size;
    last_end = text.data() + at;
    if (!all) break;
  }
  if (at < text.size()) sink.append(text.substr(at));
}

/// regex_replace: every element.
template <class Sink>
void replace_all(const OpCall& call, Sink& sink) {
  const std::shared_ptr<const Regex> regex = cached_regex(call.inputs[1].string_at(0));
  const std::string_view rewrite = call.inputs[2].string_at(0);
  const bool all = call.attr("replace_global").as_bool();
  for (int64_t i = 0; i < call.inputs[0].num_elements(); ++i) {
    put_replaced(*regex, call.inputs[0].string_at(i), rewrite, all, sink);
    sink.close();
  }
}

}  // namespace tidemark::text
