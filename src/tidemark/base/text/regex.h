// Regular expressions in RE2's syntax, compiled once and kept in a bounded cache.
#pragma once

#include <tidemark/export.h>

#include <memory>
#include <string>
#include <string_view>

#include "tidemark/base/text/re2/interface.h"

namespace tidemark::text {

class Regex {
 public:
  static constexpr int kMaxSpans = 10;
  /// What RE2 may spend on one pattern and its automata.
  static constexpr size_t kMaxBytes = 1 << 20;

  /// Throws InvalidArgumentError for a malformed pattern, UnimplementedError where the library that
  /// knows regular expressions is missing.
  static std::unique_ptr<const Regex> compile(std::string_view pattern);

  Regex(const TidemarkRe2Table& table, TidemarkRegex* compiled)
      : table_(table), compiled_(compiled) {}
  ~Regex() { table_.destroy(compiled_); }
  Regex(const Regex&) = delete;

  bool full_match(std::string_view text) const {
    return table_.full_match(compiled_, text.data(), text.size()) != 0;
  }
  int groups() const { return table_.groups(compiled_); }
  bool match(std::string_view text, size_t from, TidemarkSpan* spans, int count) const {
    return table_.match(compiled_, text.data(), text.size(), from, spans, count) != 0;
  }

 private:
  const TidemarkRe2Table& table_;
  TidemarkRegex* compiled_;
};

}  // namespace tidemark::text
