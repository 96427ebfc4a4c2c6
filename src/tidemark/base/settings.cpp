#include "tidemark/base/settings.h"

#include <tidemark/bytes.h>
#include <tidemark/error.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <vector>

extern "C" char** environ;

namespace tidemark::settings {
namespace {

/// Levenshtein distance, to guess what a misspelt variable was meant to be.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

void warn_once() {
  static std::once_flag once;
  std::call_once(once, [] { std::fputs(unknown_variables().c_str(), stderr); });
}

[[noreturn]] void fail_to_read(const Setting& setting, const std::string& value,
                               std::string_view allowed) {
  fail<InvalidArgumentError>("Environment variable ", setting.name, "=\"", value, "\": expected ",
                             allowed, ". ", setting.doc);
}

}  // namespace

std::string unknown_variables() {
  static constexpr std::string_view kPrefix = "TIDEMARK_";
  std::string out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view line(*entry);
    if (!line.starts_with(kPrefix)) continue;
    const std::string_view name = line.substr(0, line.find('='));
    const Setting* nearest = nullptr;
    size_t distance = 0;
    for (const Setting* setting : kTable) {
      const size_t d = edit_distance(name, setting->name);
      if (nearest == nullptr || d < distance) {
        nearest = setting;
        distance = d;
      }
    }
    if (distance == 0) continue;
    out += message("tidemark: unknown environment variable ", name, ", ignored; did you mean ",
                   std::string_view(nearest->name), "?\n");
  }
  return out;
}

std::string text(const Setting& setting) {
  warn_once();
  const char* value = std::getenv(setting.name);
  return value != nullptr && *value != '\0' ? value : setting.fallback;
}

int64_t integer(const Setting& setting) {
  const std::string value = text(setting);
  int64_t number = 0;
  const char* end = value.data() + value.size();
  const auto [after, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc{} || after != end || number < 0) {
    fail_to_read(setting, value, "a whole number, zero or more");
  }
  return number;
}

bool flag(const Setting& setting) {
  const std::string value = text(setting);
  for (const char* yes : {"1", "true", "on", "yes"}) {
    if (value == yes) return true;
  }
  for (const char* no : {"0", "false", "off", "no"}) {
    if (value == no) return false;
  }
  fail_to_read(setting, value, "1, true, on, yes, 0, false, off or no");
}

std::optional<int64_t> bytes(const Setting& setting) {
  const std::string value = text(setting);
  if (value.empty()) return std::nullopt;
  try {
    return parse_bytes(value);
  } catch (const InvalidArgumentError&) {
    fail_to_read(setting, value, "a byte size like 512, 64MiB or 1.5 GiB");
  }
}

}  // namespace tidemark::settings
