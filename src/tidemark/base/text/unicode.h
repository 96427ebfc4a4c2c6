// Code points in UTF-8, UTF-16-BE and UTF-32-BE.
#pragma once

#include <tidemark/export.h>

#include <cstdint>
#include <string_view>

namespace tidemark::text {

enum class Encoding : uint8_t { utf8, utf16_be, utf32_be };

/// Throws InvalidArgumentError for a name that is none of "UTF-8", "UTF-16-BE", "UTF-32-BE" (in any
/// case).
TIDEMARK_API Encoding encoding_from_name(std::string_view op, std::string_view name);

inline bool is_utf8_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

/// Characters of UTF-8: bytes that are no continuation.
TIDEMARK_API int64_t count_utf8(std::string_view text);
/// Where the character begins that is `steps` further than the one at `from`; the text's size when
/// there are fewer, and then *missing says how many.
TIDEMARK_API size_t advance_utf8(std::string_view text, size_t from, int64_t steps,
                                 int64_t* missing);

struct CodePoint {
  uint32_t value = 0;
  uint32_t bytes = 0;  // at least one
  bool valid = false;
};

/// The first code point of a text that is not empty. What is malformed spans its longest beginning
/// that could have become a code point, as Unicode recommends.
TIDEMARK_API CodePoint first_code_point(Encoding encoding, std::string_view text);

/// True iff the value is a code point that may stand in a text: no surrogate, not beyond 10FFFF.
inline bool is_code_point(int64_t value) {
  return value >= 0 && value <= 0x10FFFF && !(value >= 0xD800 && value <= 0xDFFF);
}
/// Writes a code point, which must be one; returns the number of bytes, at most 4.
TIDEMARK_API int write_code_point(Encoding encoding, uint32_t value, char out[4]);

/// Simple case mapping of one code point, as Unicode has it, whatever the process's locale.
TIDEMARK_API uint32_t to_lower(uint32_t value);
TIDEMARK_API uint32_t to_upper(uint32_t value);

}  // namespace tidemark::text
