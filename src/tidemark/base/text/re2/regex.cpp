// libtidemark_re2.so: patterns compiled and matched by RE2, in time linear in the text.
#include <re2/re2.h>

#include <algorithm>
#include <cstring>

#include "tidemark/base/text/re2/interface.h"

struct TidemarkRegex {
  re2::RE2 compiled;
};

namespace {

constexpr int kMaxSpans = 10;  // a rewrite names groups by one digit

re2::StringPiece piece(const char* text, size_t size) { return {text, size}; }

TidemarkRegex* compile(const char* pattern, size_t size, size_t memory, char* error,
                       size_t error_size) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(static_cast<int64_t>(memory));
  auto* regex = new TidemarkRegex{re2::RE2(piece(pattern, size), options)};
  if (regex->compiled.ok()) return regex;
  const std::string& reason = regex->compiled.error();
  const size_t kept = std::min(reason.size(), error_size - 1);
  std::memcpy(error, reason.data(), kept);
  error[kept] = 0;
  delete regex;
  return nullptr;
}

void destroy(TidemarkRegex* regex) { delete regex; }

int groups(const TidemarkRegex* regex) { return regex->compiled.NumberOfCapturingGroups(); }

int full_match(const TidemarkRegex* regex, const char* text, size_t size) {
  return re2::RE2::FullMatch(piece(text, size), regex->compiled);
}

int match(const TidemarkRegex* regex, const char* text, size_t size, size_t from,
          TidemarkSpan* spans, int span_count) {
  re2::StringPiece found[kMaxSpans];
  const int count = std::min(span_count, kMaxSpans);
  if (!regex->compiled.Match(piece(text, size), from, size, re2::RE2::UNANCHORED, found, count)) {
    return 0;
  }
  for (int i = 0; i < count; ++i) spans[i] = {found[i].data(), found[i].size()};
  return 1;
}

constexpr TidemarkRe2Table kTable{compile, destroy, groups, full_match, match};

}  // namespace

extern "C" __attribute__((visibility("default"))) const TidemarkRe2Table* tidemark_re2_table() {
  return &kTable;
}
