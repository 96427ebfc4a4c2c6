#include "tidemark/base/text/unicode.h"

#include <locale.h>
#include <tidemark/error.h>
#include <wctype.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "tidemark/base/serial_for.h"

namespace tidemark::text {

namespace {

unsigned byte_at(std::string_view text, size_t i) { return static_cast<unsigned char>(text[i]); }

CodePoint first_utf8(std::string_view text) {
  const unsigned lead = byte_at(text, 0);
  if (lead < 0x80) return {lead, 1, true};
  // Bounds of the second byte keep out overlong forms, surrogates and what is beyond 10FFFF.
  unsigned size = 0, low = 0x80, high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) size = 2;
  if (lead >= 0xE0 && lead <= 0xEF) size = 3;
  if (lead >= 0xF0 && lead <= 0xF4) size = 4;
  if (size == 0) return {0, 1, false};
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  uint32_t value = lead & (0xFFu >> (size + 1));
  for (unsigned i = 1; i < size; ++i) {
    if (i >= text.size()) return {0, i, false};
    const unsigned next = byte_at(text, i);
    if (next < low || next > high) return {0, i, false};
    value = (value << 6) | (next & 0x3F);
    low = 0x80;
    high = 0xBF;
  }
  return {value, size, true};
}

CodePoint first_utf16(std::string_view text) {
  if (text.size() < 2) return {0, 1, false};
  const uint32_t unit = byte_at(text, 0) << 8 | byte_at(text, 1);
  if (unit < 0xD800 || unit > 0xDFFF) return {unit, 2, true};
  if (unit > 0xDBFF || text.size() < 4) {
    return {0, static_cast<uint32_t>(unit > 0xDBFF ? 2 : text.size()), false};
  }
  const uint32_t second = byte_at(text, 2) << 8 | byte_at(text, 3);
  if (second < 0xDC00 || second > 0xDFFF) return {0, 2, false};
  return {0x10000 + ((unit - 0xD800) << 10) + (second - 0xDC00), 4, true};
}

CodePoint first_utf32(std::string_view text) {
  if (text.size() < 4) return {0, static_cast<uint32_t>(text.size()), false};
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | byte_at(text, i);
  return {value, 4, is_code_point(value)};
}

/// Unicode's tables of the C library; null where it has none, then ASCII is all that changes.
locale_t unicode_locale() {
  static const locale_t locale = [] {
    for (const char* name : {"C.UTF-8", "C.utf8", "en_US.UTF-8"}) {
      if (locale_t found = newlocale(LC_CTYPE_MASK, name, nullptr)) return found;
    }
    return locale_t{};
  }();
  return locale;
}

}  // namespace

Encoding encoding_from_name(std::string_view op, std::string_view name) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (upper == "UTF-8" || upper == "UTF8") return Encoding::utf8;
  if (upper == "UTF-16-BE" || upper == "UTF-16BE") return Encoding::utf16_be;
  if (upper == "UTF-32-BE" || upper == "UTF-32BE") return Encoding::utf32_be;
  fail<InvalidArgumentError>(
      "[", op, "] the encoding must be UTF-8, UTF-16-BE or UTF-32-BE; given '", name, "'");
}

int64_t count_utf8(std::string_view text) {
  int64_t count = 0;
  serial_for(
      static_cast<int64_t>(text.size()),
      [&](int64_t begin, int64_t end) {
        count += std::count_if(text.begin() + begin, text.begin() + end,
                               [](char c) { return !is_utf8_continuation(c); });
      },
      1 << 20);
  return count;
}

size_t advance_utf8(std::string_view text, size_t from, int64_t steps, int64_t* missing) {
  while (steps > 0 && from < text.size()) {
    do ++from;
    while (from < text.size() && is_utf8_continuation(text[from]));
    if (--steps % (1 << 16) == 0) check_interrupt();
  }
  if (missing) *missing = steps;
  return from;
}

CodePoint first_code_point(Encoding encoding, std::string_view text) {
  switch (encoding) {
    case Encoding::utf8:
      return first_utf8(text);
    case Encoding::utf16_be:
      return first_utf16(text);
    default:
      return first_utf32(text);
  }
}

int write_code_point(Encoding encoding, uint32_t value, char out[4]) {
  const auto put = [&](int i, uint32_t byte) { out[i] = static_cast<char>(byte & 0xFF); };
  if (encoding == Encoding::utf32_be) {
    for (int i = 0; i < 4; ++i) put(i, value >> (24 - 8 * i));
    return 4;
  }
  if (encoding == Encoding::utf16_be) {
    if (value < 0x10000) return put(0, value >> 8), put(1, value), 2;
    const uint32_t high = 0xD800 + ((value - 0x10000) >> 10);
    const uint32_t low = 0xDC00 + ((value - 0x10000) & 0x3FF);
    return put(0, high >> 8), put(1, high), put(2, low >> 8), put(3, low), 4;
  }
  if (value < 0x80) return put(0, value), 1;
  const int size = value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;
  put(0, (0xF00u >> size) | (value >> (6 * (size - 1))));
  for (int i = 1; i < size; ++i) put(i, 0x80 | ((value >> (6 * (size - 1 - i))) & 0x3F));
  return size;
}

uint32_t to_lower(uint32_t value) {
  if (value < 0x80) return value >= 'A' && value <= 'Z' ? value + 32 : value;
  return unicode_locale() ? towlower_l(value, unicode_locale()) : value;
}

uint32_t to_upper(uint32_t value) {
  if (value < 0x80) return value >= 'a' && value <= 'z' ? value - 32 : value;
  return unicode_locale() ? towupper_l(value, unicode_locale()) : value;
}

}  // namespace tidemark::text
