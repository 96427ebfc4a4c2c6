// Numbers in texts, read as TensorFlow reads them.
#pragma once

#include <tidemark/export.h>

#include <charconv>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace tidemark::text {

/// Surrounding white space, a sign, "inf", "infinity" and "nan" in any case, and hexadecimal
/// integers are allowed. Too large gives infinity, too small zero. False: no number.
TIDEMARK_API bool parse_real(std::string_view text, double& value);
TIDEMARK_API bool parse_real(std::string_view text, float& value);

/// Surrounding white space and a sign are allowed. False: no integer, or out of T's range.
template <class T>
bool parse_integer(std::string_view text, T& value) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && at == end && !text.empty();
}

template <class T>
bool parse_number(std::string_view text, T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return parse_real(text, value);
  } else {
    return parse_integer(text, value);
  }
}

}  // namespace tidemark::text
