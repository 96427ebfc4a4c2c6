// Base64 of the web-safe alphabet (RFC 4648, section 5).
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark::text {

inline constexpr char kBase64Alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

template <class Sink>
void put_base64(std::string_view bytes, bool pad, Sink& sink) {
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = bytes.size() - i < 3 ? bytes.size() - i : 3;
    uint32_t word = 0;
    for (size_t j = 0; j < 3; ++j) {
      word = word << 8 | (j < left ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    }
    for (size_t j = 0; j <= left; ++j) sink.append(kBase64Alphabet[word >> (18 - 6 * j) & 63]);
    for (size_t j = left; pad && j < 3; ++j) sink.append('=');
  }
}

/// -1: not of the alphabet.
inline int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '-' ? 62 : c == '_' ? 63 : -1;
}

/// Padding may be there or not. False: malformed.
template <class Sink>
bool put_from_base64(std::string_view text, Sink& sink) {
  if (text.size() % 4 == 0 && text.ends_with('=')) {
    text.remove_suffix(1);
    if (text.ends_with('=')) text.remove_suffix(1);
  }
  if (text.size() % 4 == 1) return false;
  uint32_t word = 0;
  int bits = 0;
  for (char c : text) {
    const int value = base64_value(c);
    if (value < 0) return false;
    word = word << 6 | static_cast<uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      sink.append(static_cast<char>(word >> bits & 0xFF));
    }
  }
  return true;
}

}  // namespace tidemark::text
