#include "tidemark/io/ordered_code.h"

#include <bit>

namespace tidemark::io {

namespace {

/// How many bytes, then the bytes, the highest first.
void put_unsigned(std::string& to, uint64_t value) {
  const int bytes = (std::bit_width(value) + 7) / 8;
  to += static_cast<char>(bytes);
  for (int i = bytes - 1; i >= 0; --i) to += static_cast<char>(value >> (8 * i));
}

/// Zero and 255 are escaped, so that the end, a zero and a one, sorts before all that goes on.
void put_text(std::string& to, std::string_view text) {
  for (const char c : text) {
    to += c;
    if (c == '\0') to += '\xff';
    if (c == '\xff') to += '\0';
  }
  to += std::string_view("\0\1", 2);
}

/// The value's own low bytes, sign and all, of which the first bits say how many there are: as many
/// bits as bytes, set for what is not negative and clear for what is.
void put_signed(std::string& to, int64_t value) {
  const auto magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  const int bits = std::bit_width(magnitude);
  int bytes = 1;
  while (7 * bytes - 1 < bits) ++bytes;
  const char sign = value < 0 ? '\xff' : '\0';
  std::string code(2, sign);
  for (int i = 7; i >= 0; --i) code += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
  code = code.substr(code.size() - static_cast<size_t>(bytes));
  for (int i = 0; i < bytes; ++i) {
    code[static_cast<size_t>(i / 8)] ^= static_cast<char>(0x80 >> (i % 8));
  }
  to += code;
}

}  // namespace

std::string slice_key(std::string_view tensor, std::span<const Extent> part) {
  std::string key;
  put_unsigned(key, 0);
  put_text(key, tensor);
  put_unsigned(key, part.size());
  for (const Extent& extent : part) {
    put_signed(key, extent.start);
    put_signed(key, extent.length);
  }
  return key;
}

}  // namespace tidemark::io
