#include "tidemark/base/text/crc32c.h"

#include <array>
#include <cstring>

namespace tidemark::text {

namespace {

constexpr uint32_t kPolynomial = 0x82F63B78u;  // reversed

/// kTables[k][b]: what byte b does to the checksum when k more bytes follow it.
constexpr auto kTables = [] {
  std::array<std::array<uint32_t, 256>, 8> tables{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t crc = b;
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc & 1 ? kPolynomial : 0);
    tables[0][b] = crc;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (uint32_t b = 0; b < 256; ++b) {
      const uint32_t before = tables[k - 1][b];
      tables[k][b] = before >> 8 ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}();

uint32_t by_tables(std::string_view bytes, uint32_t crc) {
  while (bytes.size() >= 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    word ^= crc;
    crc = 0;
    for (size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][word >> (8 * i) & 0xFF];
    bytes.remove_prefix(8);
  }
  for (char c : bytes) crc = crc >> 8 ^ kTables[0][(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  return crc;
}

#ifdef __x86_64__
/// With the processor's own instruction: about four times as fast.
__attribute__((target("sse4.2"))) uint32_t by_instruction(std::string_view bytes, uint32_t crc) {
  uint64_t wide = crc;
  while (bytes.size() >= 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    wide = __builtin_ia32_crc32di(wide, word);
    bytes.remove_prefix(8);
  }
  crc = static_cast<uint32_t>(wide);
  for (char c : bytes) crc = __builtin_ia32_crc32qi(crc, static_cast<unsigned char>(c));
  return crc;
}
#endif

}  // namespace

uint32_t crc32c(std::string_view bytes, uint32_t before) {
#ifdef __x86_64__
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") > 0;
  if (has_instruction) return ~by_instruction(bytes, ~before);
#endif
  return ~by_tables(bytes, ~before);
}

}  // namespace tidemark::text
