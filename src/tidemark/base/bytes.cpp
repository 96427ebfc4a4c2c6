#include <tidemark/bytes.h>
#include <tidemark/error.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace tidemark {
namespace {

constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

/// Power of 1024 named by the unit ("", "b", "k", "kb", "kib", …), or -1.
int power_of_unit(const std::string& unit) {
  if (unit.empty() || unit == "b") return 0;
  static constexpr char kLetters[] = "kmgtpe";
  for (int i = 0; kLetters[i] != '\0'; ++i) {
    if (unit[0] != kLetters[i]) continue;
    const std::string rest = unit.substr(1);
    return rest.empty() || rest == "b" || rest == "ib" ? i + 1 : -1;
  }
  return -1;
}

[[noreturn]] void fail_to_parse(const std::string& text) {
  fail<InvalidArgumentError>("Not a byte size: \"", text,
                             "\". Write a number with or without a unit, like \"512\", \"64MiB\", "
                             "\"1.5 GiB\" or \"2g\" (units are binary; below 8 EiB).");
}

}  // namespace

std::string format_bytes(int64_t bytes) {
  double value = static_cast<double>(bytes);
  const char* sign = value < 0 ? "-" : "";
  value = std::fabs(value);
  int unit = 0;
  // 1023.5 would print as 1024: it belongs to the next unit already.
  while (value >= 1023.5 && unit < 6) {
    value /= 1024;
    ++unit;
  }
  const int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  char digits[32];
  int length = std::snprintf(digits, sizeof digits, "%.*f", decimals, value);
  if (decimals > 0) {
    while (digits[length - 1] == '0') --length;
    if (digits[length - 1] == '.') --length;
  }
  return sign + std::string(digits, static_cast<size_t>(length)) + " " + kUnits[unit];
}

int64_t parse_bytes(const std::string& text) {
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end && std::isspace(static_cast<unsigned char>(*at))) ++at;
  if (at == end || !(std::isdigit(static_cast<unsigned char>(*at)) || *at == '.')) {
    fail_to_parse(text);
  }
  int64_t whole = 0;
  double number = 0;
  const auto [after_whole, whole_error] = std::from_chars(at, end, whole);
  const auto [after, error] = std::from_chars(at, end, number, std::chars_format::fixed);
  if (error != std::errc{}) fail_to_parse(text);
  std::string unit;
  for (const char* c = after; c != end; ++c) {
    if (!std::isspace(static_cast<unsigned char>(*c))) {
      unit += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
    }
  }
  const int power = power_of_unit(unit);
  if (power < 0) fail_to_parse(text);
  const int64_t scale = int64_t{1} << (10 * power);
  if (whole_error == std::errc{} && after_whole == after) {  // exact for whole numbers
    if (whole > std::numeric_limits<int64_t>::max() / scale) fail_to_parse(text);
    return whole * scale;
  }
  const double bytes = number * static_cast<double>(scale);
  if (!(bytes < 9.2233720368547758e18)) fail_to_parse(text);
  return static_cast<int64_t>(bytes);
}

}  // namespace tidemark
