#include "tidemark/base/text/numbers.h"

#include <cmath>
#include <limits>

namespace tidemark::text {

namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool equals_lower(std::string_view text, std::string_view wanted) {
  if (text.size() != wanted.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (lower(text[i]) != wanted[i]) return false;
  }
  return true;
}

/// Of a well-formed number that no double holds: is it too large (or too small)?
bool is_huge(std::string_view digits) {
  int64_t power = 0, exponent = 0;  // of the first digit that is not zero
  bool seen_point = false, seen_digit = false;
  size_t i = 0;
  for (; i < digits.size() && lower(digits[i]) != 'e'; ++i) {
    if (digits[i] == '.') {
      seen_point = true;
      continue;
    }
    if (digits[i] != '0') seen_digit = true;
    if (!seen_point && seen_digit) ++power;
    if (seen_point && !seen_digit) --power;
  }
  if (i + 1 < digits.size()) {
    const bool negative = digits[i + 1] == '-';
    for (size_t j = i + 1; j < digits.size(); ++j) {
      if (digits[j] >= '0' && digits[j] <= '9' && exponent < 1'000'000'000'000) {
        exponent = exponent * 10 + (digits[j] - '0');
      }
    }
    if (negative) exponent = -exponent;
  }
  return power + exponent > 0;
}

template <class T>
bool parse(std::string_view text, T& value) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  if (text.empty()) return false;
  const bool negative = text[0] == '-';
  if (text[0] == '+' || text[0] == '-') text.remove_prefix(1);
  if (text.empty() || text[0] == '+' || text[0] == '-') return false;
  T magnitude = 0;
  if (equals_lower(text, "inf") || equals_lower(text, "infinity")) {
    magnitude = std::numeric_limits<T>::infinity();
  } else if (equals_lower(text, "nan")) {
    magnitude = std::numeric_limits<T>::quiet_NaN();
  } else if (text.size() > 2 && text[0] == '0' && lower(text[1]) == 'x') {
    text.remove_prefix(2);
    if (text.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) return false;
    for (char c : text) {
      magnitude = magnitude * 16 + static_cast<T>(c <= '9' ? c - '0' : lower(c) - 'a' + 10);
    }
  } else {
    if ((text[0] < '0' || text[0] > '9') && text[0] != '.') return false;  // "infx", "nan(1)"
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, magnitude);
    if (at != end || error == std::errc::invalid_argument) return false;
    if (error == std::errc::result_out_of_range) {
      magnitude = is_huge(text) ? std::numeric_limits<T>::infinity() : T(0);
    }
  }
  value = negative ? -magnitude : magnitude;
  return true;
}

}  // namespace

bool parse_real(std::string_view text, double& value) { return parse(text, value); }
bool parse_real(std::string_view text, float& value) { return parse(text, value); }

}  // namespace tidemark::text
